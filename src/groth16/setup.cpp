#include "groth16/setup.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/release_memory.hpp"
#include "base/secret.hpp"
#include "field/batch_inverse.hpp"
#include "groth16/setup_exponents.hpp"
#include "matrix/matrix.hpp"
#include "msm/msm.hpp"
#include "parallel/parallel.hpp"
#include "srs/params_file.hpp"
#include "srs/progress_counter.hpp"

namespace cuzk {
namespace {

constexpr size_t kGrain = 4096;
// Points made at a time: their exponents and coordinates take 32 MiB in G1, 56 MiB in G2.
constexpr size_t kBatchPoints = size_t{1} << 18;

// Overwrites memory before it gives it back: exponents and polynomial values tell the trapdoor.
template <class T>
struct ClearingAllocator : std::allocator<T> {
  template <class U>
  struct rebind {
    using other = ClearingAllocator<U>;
  };
  ClearingAllocator() = default;
  template <class U>
  ClearingAllocator(const ClearingAllocator<U>&) {}
  void deallocate(T* memory, size_t count) {
    secure_clear(memory, count * sizeof(T));
    std::allocator<T>::deallocate(memory, count);
  }
};
using SecretScalars = std::vector<Fr, ClearingAllocator<Fr>>;

// Where the points go: into memory or into a file.
class Sink {
 public:
  virtual ~Sink() = default;
  virtual Status begin(VerifyingKey vk, const SrsShape& shape) = 0;
  virtual Status append(Section section, std::span<const G1Affine> points) = 0;
  virtual Status append(Section section, std::span<const G2Affine> points) = 0;
};

class MemorySink final : public Sink {
 public:
  explicit MemorySink(Srs& srs) : srs_(srs) {}
  Status begin(VerifyingKey vk, const SrsShape& shape) override {
    srs_.vk = std::move(vk);
    srs_.h.reserve(shape.h);
    srs_.l.reserve(shape.l);
    srs_.a.reserve(shape.a);
    srs_.b_g1.reserve(shape.b_g1);
    srs_.b_g2.reserve(shape.b_g2);
    return {};
  }
  Status append(Section section, std::span<const G1Affine> points) override {
    auto& out = section == Section::kH   ? srs_.h
                : section == Section::kL ? srs_.l
                : section == Section::kA ? srs_.a
                                         : srs_.b_g1;
    out.insert(out.end(), points.begin(), points.end());
    return {};
  }
  Status append(Section, std::span<const G2Affine> points) override {
    srs_.b_g2.insert(srs_.b_g2.end(), points.begin(), points.end());
    return {};
  }

 private:
  Srs& srs_;
};

class FileSink final : public Sink {
 public:
  explicit FileSink(const std::string& path) : path_(path) {}
  Status begin(VerifyingKey vk, const SrsShape& shape) override {
    vk_ = std::move(vk);
    CUZK_ASSIGN(writer_, ParamsWriter::create(path_, vk_, shape));
    return {};
  }
  Status append(Section section, std::span<const G1Affine> points) override { return writer_->append(section, points); }
  Status append(Section section, std::span<const G2Affine> points) override { return writer_->append(section, points); }
  Result<VerifyingKey> finish() {
    CUZK_TRY(writer_->finish());
    return std::move(vk_);
  }

 private:
  std::string path_;
  VerifyingKey vk_;
  std::optional<ParamsWriter> writer_;
};

// The polynomials of every wire at tau, inputs and aux apart; k is what ic and l are made of.
struct WireValues {
  SecretScalars a_inputs, a_aux, b_inputs, b_aux, k_inputs, k_aux;
};

// L_j(tau) = w^j * (tau^m - 1) / (m * (tau - w^j)) for j < count; tau is not in the domain.
SecretScalars lagrange_values(const Fr& tau, uint32_t log2_size, uint64_t count) {
  const uint64_t m = uint64_t{1} << log2_size;
  const Fr root = fr_root_of_unity().pow(uint64_t{1} << (kFrTwoAdicity - log2_size));
  const Fr factor = (tau.pow(m) - Fr::one()) * Fr::from_u64(m).inverse();
  SecretScalars out(count);
  parallel_for(count, kGrain, [&](size_t begin, size_t end) {
    SecretScalars powers(end - begin), scratch(end - begin);
    Fr power = root.pow(begin);
    for (size_t j = begin; j < end; ++j, power *= root) {
      powers[j - begin] = power;
      out[j] = tau - power;
    }
    batch_inverse<Fr>(std::span(out).subspan(begin, end - begin), scratch);
    for (size_t j = begin; j < end; ++j) out[j] *= powers[j - begin] * factor;
  });
  return out;
}

WireValues evaluate_wires(const CompiledCircuit& circuit, const ToxicWaste& toxic, Progress& progress) {
  ProgressCounter counter(progress, "evaluate circuit at tau", 5, "steps");
  const SecretScalars lagrange = lagrange_values(toxic.tau.expose(), circuit.log2_domain(), circuit.rows());
  counter.add(1);
  const Coefficients coefficients(circuit.coefficients);
  const size_t inputs = circuit.num_inputs, aux = circuit.num_aux;
  WireValues v{SecretScalars(inputs), SecretScalars(aux),    SecretScalars(inputs),
               SecretScalars(aux),    SecretScalars(inputs), SecretScalars(aux)};
  multiply_transposed(circuit.a(), coefficients, lagrange, v.a_inputs, v.a_aux);
  // The input-consistency rows (I_i) * (0) = (0).
  for (size_t i = 0; i < inputs; ++i) v.a_inputs[i] += lagrange[circuit.num_constraints + i];
  counter.add(1);
  multiply_transposed(circuit.b(), coefficients, lagrange, v.b_inputs, v.b_aux);
  counter.add(1);
  multiply_transposed(circuit.c(), coefficients, lagrange, v.k_inputs, v.k_aux);
  counter.add(1);
  const auto combine = [&](SecretScalars& k, const SecretScalars& a, const SecretScalars& b, const Fr& divisor) {
    const Fr factor = divisor.inverse();
    parallel_for(k.size(), kGrain, [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) {
        k[i] = (toxic.beta.expose() * a[i] + toxic.alpha.expose() * b[i] + k[i]) * factor;
      }
    });
  };
  combine(v.k_inputs, v.a_inputs, v.b_inputs, toxic.gamma.expose());
  combine(v.k_aux, v.a_aux, v.b_aux, toxic.delta.expose());
  counter.add(1);
  return v;
}

Status check_trapdoor(const ToxicWaste& toxic, uint32_t log2_size) {
  const auto degenerate = [](const char* what) { return Error(ErrorClass::kUsage, what); };
  for (const Secret<Fr>* scalar : {&toxic.tau, &toxic.alpha, &toxic.beta, &toxic.gamma, &toxic.delta}) {
    if (scalar->expose().is_zero()) return degenerate("a scalar of the trapdoor is zero");
  }
  if (toxic.g1.is_infinity() || toxic.g2.is_infinity()) return degenerate("a generator of the trapdoor is infinity");
  if (toxic.tau.expose().pow(uint64_t{1} << log2_size).is_one()) {
    return degenerate("tau of the trapdoor is a point of the domain");
  }
  return {};
}

// Points at infinity cannot be written. In l, and for ONE or an input, upstream fails too; a wire that occurs in A or
// B and yet evaluates to zero would be left out by upstream's generator and counted by its prover.
Status check_nonzero(const WireDensities& densities, const WireValues& v) {
  const auto wire = [](const char* kind, size_t i) { return std::string(kind) + "[" + std::to_string(i) + "]"; };
  for (size_t i = 0; i < v.k_aux.size(); ++i) {
    if (!v.k_aux[i].is_zero()) continue;
    return Error(ErrorClass::kInvalidInput, "wire " + wire("aux", i) + " occurs in no constraint")
        .at_field(wire("aux", i));
  }
  const auto vanishes = [&](const char* matrix, const char* kind, size_t i) -> Status {
    return Error(ErrorClass::kUsage, "with this trapdoor the polynomial of wire " + wire(kind, i) + " in " + matrix +
                                         " vanishes at tau: choose another")
        .at_field(wire(kind, i));
  };
  for (size_t i = 0; i < v.k_inputs.size(); ++i) {
    if (v.k_inputs[i].is_zero()) return vanishes("ic", "input", i);
    if (v.a_inputs[i].is_zero()) return vanishes("A", "input", i);
    if (densities.b_input.get(i) && v.b_inputs[i].is_zero()) return vanishes("B", "input", i);
  }
  for (size_t i = 0; i < v.a_aux.size(); ++i) {
    if (densities.a_aux.get(i) && v.a_aux[i].is_zero()) return vanishes("A", "aux", i);
    if (densities.b_aux.get(i) && v.b_aux[i].is_zero()) return vanishes("B", "aux", i);
  }
  return {};
}

uint64_t g1_multiples(const SrsShape& shape) { return shape.ic + shape.h + shape.l + shape.a + shape.b_g1; }

// Makes the points of sections from their exponents, batch by batch.
class PointMaker final : public ExponentSink {
 public:
  PointMaker(const ToxicWaste& toxic, Sink& sink, Progress& progress)
      : toxic_(toxic), sink_(sink), progress_(progress) {}

  Status begin(const SrsShape& shape, std::span<const Fr> ic) override {
    g1_.emplace(toxic_.g1, g1_multiples(shape));
    g2_.emplace(toxic_.g2, shape.b_g2);
    counter_.emplace(progress_, "parameters", shape.h + shape.l + shape.a + shape.b_g1 + shape.b_g2, "points");
    return sink_.begin(make_verifying_key(toxic_, ic, *g1_), shape);
  }
  Status section(Section section, uint64_t count, const ExponentFill& fill) override {
    return section == Section::kBG2 ? make(section, count, fill, *g2_) : make(section, count, fill, *g1_);
  }

 private:
  template <class Curve>
  Status make(Section section, uint64_t count, const ExponentFill& fill, const FixedBase<Curve>& base) {
    SecretScalars exponents;
    std::vector<Affine<Curve>> points;
    for (uint64_t begin = 0; begin < count; begin += kBatchPoints) {
      const size_t size = std::min<uint64_t>(kBatchPoints, count - begin);
      exponents.resize(size);
      points.resize(size);
      fill(begin, exponents);
      base.multiply(exponents, points);
      CUZK_TRY(sink_.append(section, std::span<const Affine<Curve>>(points)));
      counter_->add(size);
    }
    return {};
  }

  const ToxicWaste& toxic_;
  Sink& sink_;
  Progress& progress_;
  std::optional<FixedBase<G1Curve>> g1_;
  std::optional<FixedBase<G2Curve>> g2_;
  std::optional<ProgressCounter> counter_;
};

// The values of a query: those of the inputs, then those of the aux wires, where the density (if any) has a bit.
SecretScalars query_values(const SecretScalars& inputs, const BitVector* input_density, const SecretScalars& aux,
                           const BitVector& aux_density) {
  SecretScalars out;
  out.reserve(inputs.size() + aux_density.count());
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (input_density == nullptr || input_density->get(i)) out.push_back(inputs[i]);
  }
  for (size_t i = 0; i < aux.size(); ++i) {
    if (aux_density.get(i)) out.push_back(aux[i]);
  }
  return out;
}

SrsShape srs_shape(const CompiledCircuit& circuit, const WireDensities& densities) {
  const uint64_t b = densities.b_input.count() + densities.b_aux.count();
  return {circuit.num_inputs,
          (uint64_t{1} << circuit.log2_domain()) - 1,
          circuit.num_aux,
          circuit.num_inputs + densities.a_aux.count(),
          b,
          b};
}

}  // namespace

VerifyingKey make_verifying_key(const ToxicWaste& toxic, std::span<const Fr> ic, const FixedBase<G1Curve>& g1) {
  const auto times1 = [&](const Secret<Fr>& k) {
    return G1Jacobian::from_affine(toxic.g1).mul(k.expose()).to_affine();
  };
  const auto times2 = [&](const Secret<Fr>& k) {
    return G2Jacobian::from_affine(toxic.g2).mul(k.expose()).to_affine();
  };
  VerifyingKey vk{times1(toxic.alpha),
                  times1(toxic.beta),
                  times2(toxic.beta),
                  times2(toxic.gamma),
                  times1(toxic.delta),
                  times2(toxic.delta),
                  {}};
  vk.ic.resize(ic.size());
  g1.multiply(ic, vk.ic);
  return vk;
}

Status setup_exponents(const CompiledCircuit& circuit, const ToxicWaste& toxic, ExponentSink& sink,
                       Progress& progress) {
  CUZK_TRY(check_trapdoor(toxic, circuit.log2_domain()));
  const WireDensities densities = wire_densities(circuit);
  const SrsShape shape = srs_shape(circuit, densities);
  WireValues v = evaluate_wires(circuit, toxic, progress);
  CUZK_TRY(check_nonzero(densities, v));
  CUZK_TRY(sink.begin(shape, v.k_inputs));

  const Fr& tau = toxic.tau.expose();
  const Fr h_factor = (tau.pow(shape.h + 1) - Fr::one()) * toxic.delta.expose().inverse();
  CUZK_TRY(sink.section(Section::kH, shape.h, [&](uint64_t first, std::span<Fr> out) {
    parallel_for(out.size(), kGrain, [&](size_t begin, size_t end) {
      Fr power = tau.pow(first + begin) * h_factor;
      for (size_t i = begin; i < end; ++i, power *= tau) out[i] = power;
    });
  }));
  const auto section = [&](Section name, const SecretScalars& values) {
    return sink.section(name, values.size(), [&](uint64_t first, std::span<Fr> out) {
      std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(first), out.size(), out.begin());
    });
  };
  CUZK_TRY(section(Section::kL, v.k_aux));
  release_memory(v.k_aux);
  CUZK_TRY(section(Section::kA, query_values(v.a_inputs, nullptr, v.a_aux, densities.a_aux)));
  release_memory(v.a_aux);
  const SecretScalars b = query_values(v.b_inputs, &densities.b_input, v.b_aux, densities.b_aux);
  release_memory(v.b_aux);
  CUZK_TRY(section(Section::kBG1, b));
  return section(Section::kBG2, b);
}

SrsShape srs_shape(const CompiledCircuit& circuit) { return srs_shape(circuit, wire_densities(circuit)); }

Result<Srs> setup(const CompiledCircuit& circuit, const ToxicWaste& toxic, Progress& progress) {
  Srs srs;
  MemorySink sink(srs);
  PointMaker maker(toxic, sink, progress);
  CUZK_TRY(setup_exponents(circuit, toxic, maker, progress));
  CUZK_ASSERT(srs.shape() == srs_shape(circuit));
  return srs;
}

Result<VerifyingKey> setup_to_file(const CompiledCircuit& circuit, const ToxicWaste& toxic, const std::string& path,
                                   Progress& progress) {
  FileSink sink(path);
  PointMaker maker(toxic, sink, progress);
  CUZK_TRY(setup_exponents(circuit, toxic, maker, progress));
  return sink.finish();
}

std::vector<StepMemory> setup_memory(const CircuitSizes& circuit, size_t threads) {
  const SrsShape shape = circuit.srs_shape();
  const uint64_t aux = circuit.aux * sizeof(Fr), densities = 2 * circuit.aux / 8;
  const uint64_t expected = g1_multiples(shape);
  const uint64_t table1 = FixedBase<G1Curve>::table_bytes(expected);
  const uint64_t tables = table1 + FixedBase<G2Curve>::table_bytes(shape.b_g2);
  const uint64_t making = std::max(FixedBase<G1Curve>::making_bytes(expected, threads),
                                   table1 + FixedBase<G2Curve>::making_bytes(shape.b_g2, threads));
  // `scalars` are the values of wires that are there while the section is made.
  const auto section = [&]<class Curve>(std::type_identity<Curve>, uint64_t count, uint64_t table_for,
                                        uint64_t scalars) {
    const uint64_t batch = std::min<uint64_t>(count, kBatchPoints);
    return densities + scalars + tables + batch * (sizeof(Fr) + sizeof(Affine<Curve>)) +
           FixedBase<Curve>::multiply_scratch_bytes(table_for, batch, threads) + ParamsWriter::buffer_bytes(shape);
  };
  constexpr std::type_identity<G1Curve> kG1;
  constexpr std::type_identity<G2Curve> kG2;
  const uint64_t a_query = shape.a * sizeof(Fr), b_query = shape.b_g1 * sizeof(Fr);
  return {{"evaluate circuit at tau", densities + circuit.rows() * sizeof(Fr) + 3 * aux},
          {"tables", densities + 3 * aux + making},
          {"h", section(kG1, shape.h, expected, 3 * aux)},
          {"l", section(kG1, shape.l, expected, 3 * aux)},
          {"a", section(kG1, shape.a, expected, 2 * aux + a_query)},
          {"b_g1", section(kG1, shape.b_g1, expected, b_query)},
          {"b_g2", section(kG2, shape.b_g2, shape.b_g2, b_query)}};
}

}  // namespace cuzk
