// The rates of groth16/cost.hpp, measured on the operations themselves.
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "curve/encoding.hpp"
#include "groth16/cost.hpp"
#include "groth16/prove.hpp"
#include "groth16/query_selection.hpp"
#include "groth16/setup_exponents.hpp"
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
constexpr size_t kReadPoints = size_t{1} << 17, kSubgroupPoints = 512;
constexpr unsigned kQuotientLog2 = 16;
constexpr unsigned kMsmG1Log2 = 17, kMsmG2Log2 = 15;
// Doublings to the second size that a SizedRate is measured at.
constexpr unsigned kLarger = 2;
constexpr size_t kSelectedG1 = size_t{1} << 19, kSelectedG2 = size_t{1} << 17;
constexpr size_t kMultiples = size_t{1} << 18;
constexpr size_t kClearedBytes = size_t{1} << 25;

// So that no operation pays for threads that start.
void start_threads() {
  constexpr size_t kMostBytes = size_t{1} << 28;
  std::vector<uint8_t> touched(std::min(parallel_threads() << 22, kMostBytes));
  parallel_for(touched.size(), 1 << 16,
               [&](size_t begin, size_t end) { std::fill_n(&touched[begin], end - begin, 1); });
}

// Of one run: a second one, whose memory is there, takes less than a step of a proof does.
template <class F>
Work rate_of(uint64_t units, const F& f) {
  return 1 / static_cast<double>(std::max<uint64_t>(1, units)) * measure_work(f);
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
  // Of full size: sums leave out digits that are zero.
  Fr scalar() {
    for (int i = 0; i < 4; ++i) last_ = last_ * Fr::from_u64(next()) + Fr::from_u64(next());
    return last_;
  }
  std::vector<Fr> scalars(size_t count) {
    std::vector<Fr> out(count);
    for (Fr& s : out) s = scalar();
    return out;
  }

 private:
  uint64_t state_ = 1;
  Fr last_ = Fr::one();
};

template <class Curve>
std::vector<Affine<Curve>> points(Numbers& numbers, size_t count) {
  std::vector<Affine<Curve>> out(count);
  const std::vector<Fr> scalars = numbers.scalars(std::min<size_t>(count, 4096));
  FixedBase<Curve>(Curve::generator(), scalars.size()).multiply(scalars, std::span(out).first(scalars.size()));
  for (size_t i = scalars.size(); i < count; ++i) out[i] = out[numbers.next() % scalars.size()];
  return out;
}

// As read_params() does it: places first, then chunks of the file, each read into a buffer and decoded from there.
template <class Curve>
Work read_rate(std::span<const Affine<Curve>> some, PointCheck check) {
  constexpr size_t kBytes = std::is_same_v<Curve, G1Curve> ? kG1Bytes : kG2Bytes;
  std::vector<uint8_t> bytes;
  bytes.reserve(some.size() * kBytes);
  for (const Affine<Curve>& p : some) {
    const auto encoded = encode_uncompressed(p);
    bytes.insert(bytes.end(), encoded.begin(), encoded.end());
  }
  return rate_of(some.size(), [&] {
    std::vector<Affine<Curve>> out(some.size());
    parallel_for(some.size(), kReadChunkPoints, [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) {
        const auto encoded = std::span<const uint8_t>(bytes).subspan(i * kBytes, kBytes);
        CUZK_ASSERT(read_uncompressed(encoded, check, out[i]) == PointError::kNone);
      }
    });
  });
}

// rate(log2_size) at two sizes.
template <class F>
SizedRate sized_rate(unsigned log2_size, const F& rate) {
  const Work small = rate(log2_size), large = rate(log2_size + kLarger);
  const auto growth = [](double from, double to) { return std::max(0.0, (to - from) / kLarger); };
  return {small,
          {growth(small.cpu_seconds, large.cpu_seconds), growth(small.serial_seconds, large.serial_seconds)},
          log2_size};
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
    const size_t size = size_t{1} << k;
    std::vector<Fr> a(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(size)), b = a, c = a;
    return rate_of(uint64_t{7} * k * size, [&] { compute_h(Domain(k), a, b, c); });
  });
}

template <class Curve>
Work selected_rate(std::span<const Affine<Curve>> bases, Numbers& numbers) {
  BitVector bits(bases.size());
  for (uint64_t& word : bits.words()) word = numbers.next();
  return rate_of(bits.count(), [&] { sum_selected<Curve>(bases, bits); });
}

// With a key that verifies nothing: the time of pairings does not depend on it.
Status measure_finish(ProofRates& rates) {
  const G1Affine g1 = G1Curve::generator();
  const G2Affine g2 = G2Curve::generator();
  const VerifyingKey vk{g1, g1, g2, g2, g1, g2, {g1}};
  const G1Jacobian sum1 = G1Jacobian::from_affine(g1);
  const ProofSums sums{sum1, sum1, sum1, sum1, G2Jacobian::from_affine(g2)};
  const std::array<Fr, 1> one{Fr::one()};
  CUZK_ASSIGN(const Blinding blinding, Blinding::random());
  NoProgress quiet;
  ProveReport report;
  const auto finish = [&] { (void)finish_proof(vk, sums, one, blinding, quiet, report).ok(); };
  finish();  // reads the code
  const Work both = measure_work(finish);
  rates.self_check = measure_work([&] { (void)verify(PreparedVerifyingKey(vk), Proof{g1, g2, g1}, {}).ok(); });
  const double assemble = std::max(0.0, both.cpu_seconds - rates.self_check.cpu_seconds);
  rates.assemble = {assemble, assemble};
  return {};
}

// What CpuBackend::evaluate() does with a witness of the sample before the sums.
Status measure_witness_steps(const CompiledCircuit& sample, const PackedWitness& witness, ProofRates& rates) {
  Result<std::vector<Fr>> expanded = std::vector<Fr>();
  rates.wire = rate_of(sample.num_aux, [&] { expanded = expand_witness(sample, witness); });
  CUZK_ASSIGN(const std::vector<Fr> aux, std::move(expanded));
  const uint64_t domain = uint64_t{1} << sample.log2_domain();
  const Coefficients coefficients(sample.coefficients);
  std::vector<Fr> a, b, c;
  const Work made = rate_of(domain, [&] { a.resize(domain), b.resize(domain), c.resize(domain); });
  rates.term = rate_of(sample.num_terms(), [&] {
    multiply(sample.a(), coefficients, witness.inputs, aux, a);
    multiply(sample.b(), coefficients, witness.inputs, aux, b);
    multiply(sample.c(), coefficients, witness.inputs, aux, c);
  });
  rates.row = made + rate_of(domain, [&] { (void)first_unsatisfied_row(a, b, c); });

  std::optional<WitnessQueries> queries;
  rates.classified_wire = rate_of(sample.num_aux, [&] { queries.emplace(sample, witness.inputs, aux); });
  const CircuitSizes sizes = sizes_of(sample);
  const auto shares = [](const QuerySelection& query, uint64_t most_others) {
    const auto part = [](size_t of, uint64_t all) {
      return static_cast<double>(of) / static_cast<double>(std::max<uint64_t>(1, all));
    };
    return QueryShares{part(query.num_ones(), query.size()), part(query.num_others(), most_others)};
  };
  rates.l = shares(queries->l, sizes.l_others());
  rates.a = shares(queries->a, sizes.a_others());
  rates.b = shares(queries->b, sizes.b_others());
  return {};
}

// As setup_to_file() makes points: batches of a size, in memory that is there after the first.
template <class Curve>
Work multiple_rate(size_t expected, Numbers& numbers, Work& tables) {
  std::optional<FixedBase<Curve>> base;
  tables = tables + measure_work([&] { base.emplace(Curve::generator(), expected); });
  const std::vector<Fr> scalars = numbers.scalars(std::min<size_t>(kMultiples, std::max<size_t>(1, expected)));
  std::vector<Affine<Curve>> out(scalars.size());
  std::vector<decltype(encode_uncompressed(out[0]))> encoded(out.size());
  return rate_of(scalars.size(), [&] {
    base->multiply(scalars, out);
    parallel_for(out.size(), 1024, [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) encoded[i] = encode_uncompressed(out[i]);
    });
  });
}

// Takes exponents and makes no points of them.
class NoPoints final : public ExponentSink {
 public:
  Status begin(const SrsShape&, std::span<const Fr>) override { return {}; }
  Status section(Section, uint64_t, const ExponentFill&) override { return {}; }
};

}  // namespace

Result<ProofRates> measure_proof_rates(const CompiledCircuit& sample, const PackedWitness& witness) {
  start_threads();
  Numbers numbers;
  ProofRates rates;
  const std::vector<G1Affine> g1 = points<G1Curve>(numbers, kSelectedG1);
  const std::vector<G2Affine> g2 = points<G2Curve>(numbers, kSelectedG2);
  rates.read_ic = read_rate<G1Curve>(std::span(g1).first(kSubgroupPoints), PointCheck::kSubgroup);
  rates.read_g1 = read_rate<G1Curve>(std::span(g1).first(kReadPoints), PointCheck::kOnCurve);
  rates.read_g2 = read_rate<G2Curve>(std::span(g2).first(kReadPoints), PointCheck::kOnCurve);
  rates.addition_g1 = addition_rate<G1Curve>(g1, kMsmG1Log2, numbers);
  rates.addition_g2 = addition_rate<G2Curve>(g2, kMsmG2Log2, numbers);
  rates.selected_g1 = selected_rate<G1Curve>(g1, numbers);
  rates.selected_g2 = selected_rate<G2Curve>(g2, numbers);
  std::vector<uint8_t> memory;
  rates.cleared_byte = rate_of(kClearedBytes, [&] { memory.resize(kClearedBytes); });
  CUZK_ASSERT(memory.back() == 0);
  rates.quotient_point = quotient_rate(numbers);
  CUZK_TRY(measure_finish(rates));
  CUZK_TRY(measure_witness_steps(sample, witness, rates));
  return rates;
}

Result<SetupRates> measure_setup_rates(const CompiledCircuit& sample, const SrsShape& planned) {
  start_threads();
  Numbers numbers;
  SetupRates rates;
  rates.multiple_g1 =
      multiple_rate<G1Curve>(planned.ic + planned.h + planned.l + planned.a + planned.b_g1, numbers, rates.tables);
  rates.multiple_g2 = multiple_rate<G2Curve>(planned.b_g2, numbers, rates.tables);
  const ToxicWaste toxic = toxic_waste_from_seed({});
  NoPoints sink;
  NoProgress quiet;
  Status status;
  rates.evaluated_term = rate_of(sample.num_terms(), [&] { status = setup_exponents(sample, toxic, sink, quiet); });
  CUZK_TRY(std::move(status));
  return rates;
}

}  // namespace cuzk
