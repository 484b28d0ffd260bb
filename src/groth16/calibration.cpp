// The rates of groth16/cost.hpp, measured on the operations themselves.
#include <algorithm>
#include <array>
#include <cstdint>
#include <ctime>
#include <vector>

#include "curve/encoding.hpp"
#include "field/batch_inverse.hpp"
#include "groth16/cost.hpp"
#include "groth16/prove.hpp"
#include "groth16/verify.hpp"
#include "matrix/matrix.hpp"
#include "msm/msm.hpp"
#include "ntt/quotient.hpp"
#include "parallel/parallel.hpp"
#include "srs/params_file.hpp"

namespace cuzk {
namespace {

// Sizes at which each operation takes some 100 ms on two cores, and at which its arrays are larger than a core's cache,
// as those of a proof are.
constexpr size_t kReadPoints = size_t{1} << 17;
constexpr unsigned kQuotientLog2 = 16;
constexpr unsigned kMsmG1Log2 = 17, kMsmG2Log2 = 15;
// Doublings to the second size that a SizedRate is measured at.
constexpr unsigned kLarger = 2;
constexpr size_t kSelectedG1 = size_t{1} << 19, kSelectedG2 = size_t{1} << 17;
constexpr size_t kMultiples = size_t{1} << 17;

// Of this process, all threads.
double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

// Of one run: a second one, whose memory is there, takes less than a step of a proof does.
template <class F>
double seconds_of(const F& f) {
  const double start = cpu_seconds();
  f();
  return cpu_seconds() - start;
}

// So that no operation pays for threads that start.
void start_threads() {
  std::vector<uint8_t> touched(parallel_threads() << 22);
  parallel_for(touched.size(), 1 << 16, [&](size_t begin, size_t end) { std::fill_n(&touched[begin], end - begin, 1); });
}

template <class F>
double rate_of(uint64_t units, const F& f) {
  return seconds_of(f) / static_cast<double>(std::max<uint64_t>(1, units));
}

// Uniform enough that no operation finds a short cut; the same every time.
class Numbers {
 public:
  uint64_t next() {  // splitmix64 (Steele, Lea, Flood, 2014)
    uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }
  Fr scalar() {
    const Fr low = Fr::from_u64(next()), high = Fr::from_u64(next());
    return low * low * high + high;
  }
  std::vector<Fr> scalars(size_t count) {
    std::vector<Fr> out(count);
    for (Fr& s : out) s = scalar();
    return out;
  }

 private:
  uint64_t state_ = 1;
};

template <class Curve>
std::vector<Affine<Curve>> points(Numbers& numbers, size_t count) {
  std::vector<Affine<Curve>> out(count);
  const std::vector<Fr> scalars = numbers.scalars(std::min<size_t>(count, 4096));
  FixedBase<Curve>(Curve::generator(), scalars.size()).multiply(scalars, std::span(out).first(scalars.size()));
  for (size_t i = scalars.size(); i < count; ++i) out[i] = out[numbers.next() % scalars.size()];
  return out;
}

PackedWitness random_witness(const CompiledCircuit& circuit, Numbers& numbers) {
  PackedWitness out;
  out.inputs = numbers.scalars(circuit.num_inputs);
  out.inputs[0] = Fr::one();
  out.fields = numbers.scalars(circuit.num_fields);
  for (uint32_t left = circuit.num_bits; left > 0;) {
    const unsigned count = std::min<uint32_t>(64, left);
    out.bits.append(numbers.next() >> (64 - count), count);
    left -= count;
  }
  return out;
}

template <class Curve>
double read_rate(std::span<const Affine<Curve>> some) {
  constexpr size_t kBytes = std::is_same_v<Curve, G1Curve> ? kG1Bytes : kG2Bytes;
  std::vector<uint8_t> bytes;
  for (const Affine<Curve>& p : some.first(kReadPoints)) {
    const auto encoded = encode_uncompressed(p);
    bytes.insert(bytes.end(), encoded.begin(), encoded.end());
  }
  return rate_of(kReadPoints, [&] {
    std::vector<Affine<Curve>> out(kReadPoints);
    parallel_for(kReadPoints, 1024, [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) {
        const auto encoded = std::span<const uint8_t>(bytes).subspan(i * kBytes, kBytes);
        CUZK_ASSERT(read_uncompressed(encoded, PointCheck::kOnCurve, out[i]) == PointError::kNone);
      }
    });
  });
}

// rate(log2_size) at two sizes.
template <class F>
SizedRate sized_rate(unsigned log2_size, const F& rate) {
  const double small = rate(log2_size), large = rate(log2_size + kLarger);
  return {small, std::max(0.0, (large - small) / kLarger), log2_size};
}

template <class Curve>
SizedRate addition_rate(std::span<const Affine<Curve>> bases, unsigned log2_size, Numbers& numbers) {
  const std::vector<Fr> scalars = numbers.scalars(size_t{1} << (log2_size + kLarger));
  return sized_rate(log2_size, [&](unsigned k) {
    const size_t count = size_t{1} << k;
    return rate_of(msm_additions(count), [&] { msm<Curve>(bases.first(count), std::span(scalars).first(count)); });
  });
}

SizedRate quotient_rate(Numbers& numbers) {
  const std::vector<Fr> values = numbers.scalars(size_t{1} << (kQuotientLog2 + kLarger));
  return sized_rate(kQuotientLog2, [&](unsigned k) {
    const Domain domain(k);
    std::vector<Fr> a(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(domain.size())), b = a, c = a;
    return rate_of(uint64_t{7} * k * domain.size(), [&] { compute_h(domain, a, b, c); });
  });
}

template <class Curve>
double selected_rate(std::span<const Affine<Curve>> bases, Numbers& numbers) {
  BitVector bits(bases.size());
  for (uint64_t& word : bits.words()) word = numbers.next();
  return rate_of(bits.count(), [&] { sum_selected<Curve>(bases, bits); });
}

// A key that verifies nothing: the time of pairings does not depend on it.
double self_check_seconds() {
  VerifyingKey vk;
  vk.alpha_g1 = vk.beta_g1 = vk.delta_g1 = G1Curve::generator();
  vk.beta_g2 = vk.gamma_g2 = vk.delta_g2 = G2Curve::generator();
  vk.ic = {G1Curve::generator()};
  const Proof proof{vk.alpha_g1, vk.beta_g2, vk.alpha_g1};
  // assemble() has seven secret multiplications, which cost about what the check does.
  return 3 * seconds_of([&] { (void)verify(PreparedVerifyingKey(vk), proof, {}).ok(); });
}

template <class Curve>
double multiple_rate(size_t expected, Numbers& numbers, double& table_seconds) {
  const double start = cpu_seconds();
  const FixedBase<Curve> base(Curve::generator(), expected);
  table_seconds += cpu_seconds() - start;
  const std::vector<Fr> scalars = numbers.scalars(std::min<size_t>(kMultiples, std::max<size_t>(1, expected)));
  return rate_of(scalars.size(), [&] {
    std::vector<Affine<Curve>> out(scalars.size());
    base.multiply(scalars, out);
    std::vector<decltype(encode_uncompressed(out[0]))> encoded(out.size());
    parallel_for(out.size(), 1024, [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) encoded[i] = encode_uncompressed(out[i]);
    });
  });
}

}  // namespace

ProofRates measure_proof_rates(const CompiledCircuit& sample) {
  start_threads();
  Numbers numbers;
  ProofRates rates;
  const std::vector<G1Affine> g1 = points<G1Curve>(numbers, kSelectedG1);
  const std::vector<G2Affine> g2 = points<G2Curve>(numbers, kSelectedG2);
  rates.read_g1 = read_rate<G1Curve>(g1);
  rates.read_g2 = read_rate<G2Curve>(g2);
  rates.addition_g1 = addition_rate<G1Curve>(g1, kMsmG1Log2, numbers);
  rates.addition_g2 = addition_rate<G2Curve>(g2, kMsmG2Log2, numbers);
  rates.selected_g1 = selected_rate<G1Curve>(g1, numbers);
  rates.selected_g2 = selected_rate<G2Curve>(g2, numbers);
  rates.self_check = self_check_seconds();
  rates.quotient_point = quotient_rate(numbers);
  const PackedWitness witness = random_witness(sample, numbers);
  std::vector<Fr> aux;
  rates.wire = rate_of(sample.num_aux, [&] { aux = expand_witness(sample, witness).value(); });
  const Coefficients coefficients(sample.coefficients);
  rates.term = rate_of(sample.num_terms(), [&] {
    std::vector<Fr> a(sample.num_constraints), b(a.size()), c(a.size());
    multiply(sample.a(), coefficients, witness.inputs, aux, a);
    multiply(sample.b(), coefficients, witness.inputs, aux, b);
    multiply(sample.c(), coefficients, witness.inputs, aux, c);
    // A check that goes through: the witness satisfies nothing, so it would stop at once.
    parallel_for(a.size(), 8192, [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) c[i] = a[i] * b[i];
    });
  });
  return rates;
}

SetupRates measure_setup_rates(const CompiledCircuit& sample, const SrsShape& planned) {
  start_threads();
  Numbers numbers;
  SetupRates rates;
  rates.multiple_g1 =
      multiple_rate<G1Curve>(planned.ic + planned.h + planned.l + planned.a + planned.b_g1, numbers, rates.tables);
  rates.multiple_g2 = multiple_rate<G2Curve>(planned.b_g2, numbers, rates.tables);
  std::vector<Fr> rows = numbers.scalars(sample.num_constraints), scratch(rows.size());
  rates.lagrange_row = rate_of(rows.size(), [&] {
    parallel_for(rows.size(), 4096, [&](size_t begin, size_t end) {
      Fr power = Fr::one();
      const Fr step = rows[begin];
      for (size_t i = begin; i < end; ++i, power *= step) rows[i] += power;
      const auto part = [&](std::vector<Fr>& v) { return std::span(v).subspan(begin, end - begin); };
      batch_inverse<Fr>(part(rows), part(scratch));
      for (size_t i = begin; i < end; ++i) rows[i] *= step * power;
    });
  });
  const Coefficients coefficients(sample.coefficients);
  rates.transposed_term = rate_of(sample.num_terms(), [&] {
    for (const BlockMatrix& matrix : {sample.a(), sample.b(), sample.c()}) {
      std::vector<Fr> inputs(sample.num_inputs), aux(sample.num_aux);
      multiply_transposed(matrix, coefficients, rows, inputs, aux);
    }
  });
  return rates;
}

}  // namespace cuzk
