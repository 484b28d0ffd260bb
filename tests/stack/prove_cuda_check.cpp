// Proofs of every kind by the CPU and by the CUDA backend, compared after every step: expansion, rows, quotient, each
// sum, the proof's bytes with fixed r and s; and the times of the steps on the device.
//
// Circuits named after --device-setup are too large for the CPU backend: their parameters are made on the device, and
// their proofs are verified.
//
// Usage: cuzk_prove_cuda_check [--small | CIRCUIT_ID ... [--device-setup CIRCUIT_ID ...]] [--witnesses N]
// [--multiples N] [--log2-entries N] [--json FILE]. Exit status 1 on a difference, 2 where something fails.
//   --witnesses     how many are evaluated together (default 1; --small: 3); with one, alone
//   --multiples     of the points of h in memory
//   --log2-entries  of the sum over h, added at a time
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "circuit/packed_form.hpp"
#include "circuit/packed_writer.hpp"
#include "circuit/recorder.hpp"
#include "gpu/api_counts.hpp"
#include "groth16/cpu_backend.hpp"
#include "groth16/cuda_backend.hpp"
#include "groth16/prove.hpp"
#include "groth16/setup.hpp"
#include "matrix/matrix.hpp"
#include "ntt/quotient.hpp"
#include "parallel/parallel.hpp"
#include "support/block_circuit.hpp"
#include "support/check_results.hpp"
#include "support/fixed_blinding.hpp"
#include "support/synthetic_circuits.hpp"

namespace {

using namespace cuzk;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

class DualCheck {
 public:
  DualCheck(gpu::Device& device, int repeats, const CudaBackendOptions& options)
      : device_(device), repeats_(repeats), options_(options) {}
  std::vector<std::string> lines;  // of JSON, one a circuit
  uint64_t wrong = 0;

  Status run(const test::SyntheticCircuit& made) {
    id_ = made.id;
    const CompiledCircuit& circuit = made.circuit;
    NoProgress quiet;
    auto start = Clock::now();
    CUZK_ASSIGN(const Srs srs, setup(circuit, toxic_waste_from_seed({1}), quiet));
    std::printf("%s: parameters made in %.1f s\n", id_.c_str(), seconds_since(start));
    start = Clock::now();
    CUZK_ASSIGN(const auto backend, CudaBackend::create(device_, circuit, srs, options_));
    std::printf("%s: on the device in %.2f s\n", id_.c_str(), seconds_since(start));

    ProofSteps steps;
    ProveReport ignored;
    backend->keep_steps(&steps);
    CUZK_ASSIGN(const ProofSums device_sums, backend->evaluate(circuit, srs, made.witness, quiet, ignored));
    backend->keep_steps(nullptr);
    CUZK_TRY(compare_steps(made, steps));
    CpuBackend cpu;
    ProveReport cpu_report;
    CUZK_ASSIGN(const ProofSums sums, cpu.evaluate(circuit, srs, made.witness, quiet, cpu_report));
    compare_sums(device_sums, sums, "");
    CUZK_TRY(compare_together(made, srs, *backend, cpu, sums));

    const Blinding blinding = BlindingForTests::make(Fr::from_u64(1234567), Fr::from_u64(7654321));
    CUZK_ASSIGN(const Proof expected, prove(cpu, circuit, srs, made.witness, blinding, quiet));
    ProveReport report;
    double best = 1e9;
    const gpu::ApiCounts before = gpu::api_counts();
    for (int i = 0; i < repeats_; ++i) {
      ProveReport now;
      start = Clock::now();
      CUZK_ASSIGN(const Proof proof, prove(*backend, circuit, srs, made.witness, blinding, quiet, &now));
      const double took = seconds_since(start);
      if (took < best) {
        best = took;
        report = now;
      }
      expect(encode(proof) == encode(expected), "the bytes of the proof");
    }
    expect(gpu::api_counts() == before, "a proof allocates nothing and synchronises no device");
    CUZK_TRY(compare_unsatisfied(made, srs, *backend, cpu));
    CUZK_TRY(record(*backend, report, best, 1, witnesses_of(made).size(), cpu_report.total_seconds()));
    return compare_setup(made, srs, sums);
  }

  // Parameters made on the device, proofs verified.
  Status run_large(const test::SyntheticCircuit& made) {
    id_ = made.id;
    NoProgress quiet;
    auto start = Clock::now();
    CUZK_ASSIGN(const auto backend,
                CudaBackend::create_with_setup(device_, made.circuit, toxic_waste_from_seed({1}), options_, quiet));
    const double setup_s = seconds_since(start);
    std::printf("%s: parameters made on the device in %.1f s\n", id_.c_str(), setup_s);
    std::fflush(stdout);
    const std::vector<const PackedWitness*> witnesses = witnesses_of(made);
    ProveReport report;
    double best = 1e9;
    const gpu::ApiCounts before = gpu::api_counts();
    for (int i = 0; i < std::min(repeats_, 3); ++i) {
      ProveReport now;
      start = Clock::now();
      CUZK_ASSIGN(const std::vector<ProofSums> sums, backend->evaluate(made.circuit, witnesses, quiet, now));
      // Verified before it is returned, each on a thread of its own.
      std::vector<Status> ends(sums.size());
      std::vector<ProveReport> reports(sums.size());
      const StepTimer timer(now, quiet, "assemble and verify all", sums.size(), "proofs");
      parallel_for(sums.size(), 1, [&](size_t begin, size_t end) {
        for (size_t k = begin; k < end; ++k) ends[k] = finish(*backend, sums[k], *witnesses[k], reports[k]);
      });
      for (const Status& status : ends) CUZK_TRY(status);
      const double took = seconds_since(start);
      if (took < best) {
        best = took;
        report = now;
      }
    }
    expect(gpu::api_counts() == before, "a proof allocates nothing and synchronises no device");
    return record(*backend, report, best, witnesses.size(), witnesses.size(), 0);
  }

 private:
  void expect(bool right, const std::string& what) {
    if (right) return;
    std::printf("wrong: %s: %s\n", id_.c_str(), what.c_str());
    ++wrong;
  }

  static std::vector<const PackedWitness*> witnesses_of(const test::SyntheticCircuit& made) {
    std::vector<const PackedWitness*> out = {&made.witness};
    for (const PackedWitness& other : made.others) out.push_back(&other);
    return out;
  }

  static Status finish(const CudaBackend& backend, const ProofSums& sums, const PackedWitness& witness,
                       ProveReport& report) {
    NoProgress quiet;
    CUZK_ASSIGN(const Blinding blinding, Blinding::random());
    CUZK_TRY(finish_proof(backend.vk(), sums, witness.inputs, blinding, quiet, report));
    return {};
  }

  void compare_sums(const ProofSums& found, const ProofSums& expected, const std::string& where) {
    expect(found.h == expected.h, "the sum h" + where);
    expect(found.l == expected.l, "the sum l" + where);
    expect(found.a == expected.a, "the sum a" + where);
    expect(found.b_g1 == expected.b_g1, "the sum b_g1" + where);
    expect(found.b_g2 == expected.b_g2, "the sum b_g2" + where);
  }

  // All witnesses together have the sums that each has alone.
  Status compare_together(const test::SyntheticCircuit& made, const Srs& srs, CudaBackend& backend, CpuBackend& cpu,
                          const ProofSums& first) {
    NoProgress quiet;
    ProveReport ignored;
    const std::vector<const PackedWitness*> witnesses = witnesses_of(made);
    CUZK_ASSIGN(const std::vector<ProofSums> sums, backend.evaluate(made.circuit, witnesses, quiet, ignored));
    expect(sums.size() == witnesses.size(), "as many sums as witnesses");
    compare_sums(sums[0], first, " of the first of all");
    for (size_t k = 1; k < witnesses.size(); ++k) {
      CUZK_ASSIGN(const ProofSums expected, cpu.evaluate(made.circuit, srs, *witnesses[k], quiet, ignored));
      expect(!(expected.a == first.a), "another witness");
      compare_sums(sums[k], expected, " of number " + std::to_string(k));
    }
    return compare_prefixes(made, witnesses, backend, sums);
  }

  // Asks to yield before the k-th witness.
  class YieldBefore final : public Progress {
   public:
    explicit YieldBefore(size_t k) : left_(k) {}
    void begin_stage(std::string_view, uint64_t, std::string_view) override {}
    void advance(uint64_t) override {}
    void end_stage() override {}
    bool yield_requested() const override { return --left_ == 0; }

   private:
    mutable size_t left_;
  };

  // However many are ended with, they have the same sums; so they do before a witness that is wrong.
  Status compare_prefixes(const test::SyntheticCircuit& made, std::vector<const PackedWitness*> witnesses,
                          CudaBackend& backend, const std::vector<ProofSums>& all) {
    ProveReport ignored;
    const auto compare = [&](size_t count, Progress& progress, const std::string& where) -> Status {
      WitnessList list(witnesses);
      CUZK_ASSIGN(const std::vector<ProofSums> sums,
                  backend.evaluate(made.circuit, list, list.size(), progress, ignored));
      expect(sums.size() == count, "as many as were begun" + where);
      for (size_t k = 0; k < std::min(count, sums.size()); ++k) compare_sums(sums[k], all[k], where);
      return {};
    };
    for (size_t count = 1; count < witnesses.size(); ++count) {
      YieldBefore progress(count);
      CUZK_TRY(compare(count, progress, " of the first " + std::to_string(count)));
    }
    if (witnesses.size() == 1) return {};
    NoProgress quiet;
    PackedWitness changed = *witnesses[1], other = *witnesses[1];
    changed.bits.words()[changed.bits.size() / 128] ^= 1;
    witnesses[1] = &changed;
    CUZK_TRY(compare(1, quiet, " before one that violates the circuit"));
    other.fields.push_back(Fr::one());
    witnesses[1] = &other;
    return compare(1, quiet, " before one of another circuit");
  }

  Status compare_steps(const test::SyntheticCircuit& made, ProofSteps& steps) {
    const CompiledCircuit& circuit = made.circuit;
    CUZK_ASSIGN(const std::vector<Fr> aux, expand_witness(circuit, made.witness));
    uint64_t differ = !std::equal(made.witness.inputs.begin(), made.witness.inputs.end(), steps.values.begin());
    for_each_packed_run(circuit, [&](uint32_t first, uint32_t count, PackedPlace place) {
      if (place.is_bit()) return;
      for (uint32_t i = 0; i < count; ++i) differ += steps.values.at(place.index() + i) != aux[first + i];
    });
    expect(differ == 0, "the packed values");
    const Coefficients coefficients(circuit.coefficients);
    const size_t size = size_t{1} << circuit.log2_domain();
    std::vector<Fr> a(size), b(size), c(size);
    multiply(circuit.a(), coefficients, made.witness.inputs, aux, a);
    multiply(circuit.b(), coefficients, made.witness.inputs, aux, b);
    multiply(circuit.c(), coefficients, made.witness.inputs, aux, c);
    put_input_rows(made.witness.inputs, circuit.num_constraints, a);
    expect(steps.a == a, "the rows of A");
    expect(steps.b == b, "the rows of B");
    expect(steps.c == c, "the rows of C");
    compute_h(Domain(circuit.log2_domain()), a, b, c);
    expect(steps.h == a, "the quotient");
    return {};
  }

  Status compare_unsatisfied(const test::SyntheticCircuit& made, const Srs& srs, Backend& device, Backend& cpu) {
    PackedWitness changed = made.witness;
    changed.bits.words()[changed.bits.size() / 128] ^= 1;
    NoProgress quiet;
    ProveReport ignored;
    const auto expected = cpu.evaluate(made.circuit, srs, changed, quiet, ignored);
    const auto found = device.evaluate(made.circuit, srs, changed, quiet, ignored);
    expect(!expected.ok() && !found.ok() && expected.error().describe() == found.error().describe() &&
               found.error().error_class == ErrorClass::kUnsatisfied,
           "a violated constraint is named");
    return {};
  }

  // Parameters made on the device give the same sums and the same key.
  Status compare_setup(const test::SyntheticCircuit& made, const Srs& srs, const ProofSums& expected) {
    NoProgress quiet;
    ProveReport ignored;
    CUZK_ASSIGN(const auto backend,
                CudaBackend::create_with_setup(device_, made.circuit, toxic_waste_from_seed({1}), options_, quiet));
    const PackedWitness* const only = &made.witness;
    CUZK_ASSIGN(const std::vector<ProofSums> all, backend->evaluate(made.circuit, std::span(&only, 1), quiet, ignored));
    const ProofSums& sums = all[0];
    expect(backend->vk() == srs.vk && backend->shape() == srs.shape(), "the key made with the device");
    compare_sums(sums, expected, " over parameters made on the device");
    return {};
  }

  // witnesses: of the proofs that were timed; most: of the largest evaluation before.
  Status record(const CudaBackend& backend, const ProveReport& report, double best, size_t witnesses, size_t most,
                double cpu_seconds) {
    CUZK_ASSIGN(const uint64_t scratch, backend.scratch_bytes(static_cast<unsigned>(most)));
    expect(backend.peak_scratch_bytes() <= scratch, "scratch memory beyond the declared");
    expect(scratch - backend.peak_scratch_bytes() <= scratch / 50, "declared scratch memory that is not used");
    std::string line = "{\"circuit\": \"" + id_ + "\", \"witnesses\": " + std::to_string(witnesses) +
                       ", \"h_multiples\": " + std::to_string(options_.h_multiples) +
                       ", \"h_max_entries\": " + std::to_string(options_.h_max_entries) +
                       ", \"prove_ms\": " + number(best * 1e3) + ", \"cpu_evaluate_ms\": " + number(cpu_seconds * 1e3) +
                       ", \"resident_bytes\": " + std::to_string(backend.resident_bytes()) +
                       ", \"scratch_bytes\": " + std::to_string(scratch) +
                       ", \"peak_scratch_bytes\": " + std::to_string(backend.peak_scratch_bytes()) +
                       ", \"steps_ms\": {";
    std::vector<ProveReport::Step> steps;  // of all witnesses together
    for (const ProveReport::Step& step : report.steps) {
      const auto same = std::find_if(steps.begin(), steps.end(), [&](const auto& s) { return s.name == step.name; });
      if (same == steps.end()) {
        steps.push_back(step);
      } else {
        same->seconds += step.seconds;
      }
    }
    for (const ProveReport::Step& step : steps) {
      line += (line.back() == '{' ? "\"" : ", \"") + step.name + "\": " + number(step.seconds * 1e3);
    }
    lines.push_back(line + "}}");
    std::printf("%s\n", lines.back().c_str());
    std::fflush(stdout);
    return {};
  }
  static std::string number(double x) {
    char text[32];
    std::snprintf(text, sizeof text, "%.2f", x);
    return text;
  }

  gpu::Device& device_;
  int repeats_;
  const CudaBackendOptions options_;
  std::string id_;
};

test::SyntheticCircuit block_circuit(size_t instances) {
  Recorder recorder;
  test::block_circuit(recorder, instances);
  const auto witness = [&](uint64_t variant) {
    PackedWriter writer;
    test::block_circuit(writer, instances, variant);
    return writer.finish();
  };
  return {"blocks", recorder.finish(), witness(0), {witness(1), witness(2)}};
}

struct Arguments {
  bool small = false;
  CudaBackendOptions options;
  uint32_t witnesses = 1;
  std::vector<std::string> ids, large_ids;
  std::string json;
};

Status check(const Arguments& arguments, uint64_t& wrong) {
  CUZK_ASSIGN(const std::vector<gpu::DeviceInfo> devices, gpu::list_devices());
  CUZK_ASSIGN(gpu::Device device, gpu::Device::open(devices[0], {arguments.small ? uint64_t{5} << 28 : 0, 0}));
  DualCheck checks(device, arguments.small ? 1 : 5, arguments.options);
  CUZK_TRY(checks.run(block_circuit(arguments.small ? 2 : 40)));
  for (const std::string& id : arguments.ids) CUZK_TRY(checks.run(test::synthetic_circuit(id, arguments.witnesses)));
  for (const std::string& id : arguments.large_ids)
    CUZK_TRY(checks.run_large(test::synthetic_circuit(id, arguments.witnesses)));
  wrong = checks.wrong;
  if (arguments.json.empty()) return {};
  return test::write_check_results(arguments.json, devices[0].name, checks.wrong, checks.lines);
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  bool large = false;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--small") {
      arguments.small = true;
    } else if (argument == "--device-setup") {
      large = true;
    } else if (argument == "--json" && i + 1 < argc) {
      arguments.json = argv[++i];
    } else if (argument == "--multiples" && i + 1 < argc) {
      arguments.options.h_multiples = static_cast<unsigned>(std::stoul(argv[++i]));
    } else if (argument == "--log2-entries" && i + 1 < argc) {
      arguments.options.h_max_entries = size_t{1} << std::stoul(argv[++i]);
    } else if (argument == "--witnesses" && i + 1 < argc) {
      arguments.witnesses = static_cast<uint32_t>(std::stoul(argv[++i]));
    } else {
      (large ? arguments.large_ids : arguments.ids).push_back(argument);
    }
  }
  if (arguments.ids.empty() && arguments.large_ids.empty() && !arguments.small) {
    arguments.ids = {"winning-2k", "window-2k", "snap-2k", "porep-2k", "winning-32g"};
  }
  uint64_t wrong = 0;
  const Status status = check(arguments, wrong);
  if (!status.ok()) {
    std::printf("%s\n", status.error().describe().c_str());
    return 2;
  }
  std::printf("prove: %llu wrong\n", static_cast<unsigned long long>(wrong));
  return wrong == 0 ? 0 : 1;
}
