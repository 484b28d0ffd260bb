#include "filecoin/post_circuit.hpp"

#include <atomic>
#include <mutex>
#include <string>
#include <type_traits>
#include <utility>

#include "base/assert.hpp"
#include "circuit/checker.hpp"
#include "circuit/packed_writer.hpp"
#include "circuit/recorder.hpp"
#include "parallel/parallel.hpp"

namespace cuzk {
namespace {

// A packed writer that is told the hashes of the openings in their order.
class HashedWriter : public PackedWriter {
 public:
  using PackedWriter::PackedWriter;
  const Fr* next_hash = nullptr;
};

struct KnownHasher {
  template <class CS>
  static Num<CS> hash_multi_leaf(CS& cs, std::span<const Num<CS>>) {
    return {Wire{}, *cs.next_hash++};
  }
  // Of comm_c and comm_r_last, whose hash goes into a constraint only.
  template <class CS>
  static Num<CS> hash2(CS&, const Num<CS>&, const Num<CS>&) {
    return {};
  }
};

// Puts the parts of the sectors, made in any order, into one witness.
class WitnessAssembly {
 public:
  WitnessAssembly(const PostShape& shape, uint32_t distinct)
      : shape_(shape),
        per_sector_(post_circuit_counts(shape, 1)),
        counts_(post_circuit_counts(shape, shape.sectors)),
        bits_(distinct) {
    out_.inputs.resize(counts_.inputs);
    out_.inputs[0] = Fr::one();
    out_.fields.resize(counts_.fields);
  }

  // Sector i of the circuit and, where it is the last one that is made, its repetitions. May run in parallel.
  void put(uint32_t i, PackedWitness part) {
    CUZK_ASSERT(part.inputs.size() == per_sector_.inputs && part.fields.size() == per_sector_.fields &&
                part.bits.size() == per_sector_.bits);
    const uint32_t end = i + 1 == bits_.size() ? shape_.sectors : i + 1;
    for (uint32_t at = i; at < end; ++at) {
      std::copy(part.inputs.begin() + 1, part.inputs.end(), from(out_.inputs, 1 + at * (per_sector_.inputs - 1)));
    }
    const auto copy_fields = [&](size_t first, size_t last) {
      for (size_t at = i + first; at < i + last; ++at) {
        std::copy(part.fields.begin(), part.fields.end(), from(out_.fields, at * per_sector_.fields));
      }
    };
    if (end == i + 1) {
      copy_fields(0, 1);
    } else {
      parallel_for(end - i, 64, copy_fields);
    }
    bits_[i] = std::move(part.bits);
  }

  PackedWitness finish() {
    out_.bits.reserve(counts_.bits);
    for (uint32_t i = 0; i < shape_.sectors; ++i) {
      const BitVector& part = bits_[std::min<size_t>(i, bits_.size() - 1)];
      size_t left = part.size();
      for (const uint64_t word : part.words()) {
        const size_t count = std::min<size_t>(left, 64);
        out_.bits.append(word, static_cast<unsigned>(count));
        left -= count;
      }
    }
    return std::move(out_);
  }

 private:
  static std::vector<Fr>::iterator from(std::vector<Fr>& values, size_t index) {
    return values.begin() + static_cast<std::ptrdiff_t>(index);
  }

  const PostShape& shape_;
  CircuitCounts per_sector_, counts_;
  PackedWitness out_;
  std::vector<BitVector> bits_;
};

template <class Writer, class Hasher, class Prepare>
PackedWitness make_witness(const PostVanilla& vanilla, const Prepare& prepare) {
  const PostShape& shape = vanilla.shape();
  const CircuitCounts counts = post_circuit_counts(shape, 1);
  const uint32_t distinct = post_distinct_sectors(vanilla);
  WitnessAssembly assembly(shape, distinct);
  parallel_for(distinct, 1, [&](size_t begin, size_t end) {
    for (uint32_t i = static_cast<uint32_t>(begin); i < end; ++i) {
      Writer writer(counts.bits, counts.fields);
      prepare(writer, i);
      PostSynthesizer<Writer, Hasher>(writer, shape, &vanilla).run(i, i + 1);
      assembly.put(i, writer.finish());
    }
  });
  return assembly.finish();
}

}  // namespace

CompiledCircuit compile_post(const PostShape& shape, uint32_t sectors) {
  Recorder recorder;
  PostSynthesizer<Recorder>(recorder, shape, nullptr).run(0, sectors);
  return recorder.finish();
}

CircuitSummary post_digest(const PostShape& shape, uint32_t sectors) {
  NoProgress nobody;
  return post_digest(shape, sectors, nobody);
}

CircuitSummary post_digest(const PostShape& shape, uint32_t sectors, Progress& progress) {
  progress.begin_stage("digest", sectors, "sectors");
  Digester digester;
  PostSynthesizer<Digester> synthesizer(digester, shape, nullptr);
  for (uint32_t i = 0; i < sectors; ++i) {
    synthesizer.run(i, i + 1);
    progress.advance(i + 1);
  }
  const CircuitSummary summary = digester.summary();
  progress.end_stage();
  return summary;
}

PackedWitness post_witness(const PostVanilla& vanilla) {
  return make_witness<PackedWriter, PoseidonCircuitHasher>(vanilla, [](PackedWriter&, uint32_t) {});
}

PackedWitness post_witness(const PostVanilla& vanilla, const PostPathHashes& hashes) {
  CUZK_ASSERT(hashes.sectors() == vanilla.sectors());
  const PostShape& shape = vanilla.shape();
  const bool winning = shape.kind == PostKind::kWinning;
  return make_witness<HashedWriter, KnownHasher>(vanilla, [&](HashedWriter& writer, uint32_t i) {
    writer.next_hash = winning ? hashes.path(0, i * shape.challenges).data() : hashes.path(i, 0).data();
  });
}

Status post_check(const PostVanilla& vanilla) {
  const PostShape& shape = vanilla.shape();
  const uint32_t distinct = post_distinct_sectors(vanilla);
  // Of a run: a checker keeps all values, 32 bytes a wire, 1.7 MB a 32 GiB sector.
  constexpr size_t kRun = 16;
  std::mutex mutex;
  std::atomic<size_t> first_bad = distinct;
  Error first_error;
  parallel_for((distinct + kRun - 1) / kRun, 1, [&](size_t begin, size_t end) {
    for (size_t run = begin; run < end; ++run) {
      const size_t from = run * kRun, to = std::min<size_t>(distinct, from + kRun);
      if (from >= first_bad.load(std::memory_order_relaxed)) return;
      Checker checker;
      PostSynthesizer<Checker>(checker, shape, &vanilla).run(static_cast<uint32_t>(from), static_cast<uint32_t>(to));
      if (checker.satisfied()) continue;
      const Checker::Violation& violation = *checker.first_violation();
      const std::lock_guard<std::mutex> lock(mutex);
      if (from >= first_bad) return;
      first_bad = from;
      const uint64_t per_sector = post_circuit_counts(shape, 1).constraints;
      const uint32_t circuit_sector = static_cast<uint32_t>(from + violation.constraint / per_sector);
      first_error = Error(ErrorClass::kUnsatisfied,
                          "constraint " + std::to_string(from * per_sector + violation.constraint) + " does not hold")
                        .at_field(violation.path)
                        .of_sector(vanilla.sector(std::min(circuit_sector, vanilla.sectors() - 1)).sector_id);
    }
  });
  if (first_bad != distinct) return first_error;
  return {};
}

}  // namespace cuzk
