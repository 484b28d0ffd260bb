// The prover end to end on small circuits: against upstream's bytes, and against the trapdoor for random circuits.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "curve/encoding.hpp"
#include "groth16/cpu_backend.hpp"
#include "groth16/groth16_test_support.hpp"
#include "groth16/prove.hpp"
#include "groth16/setup.hpp"
#include "groth16/verify.hpp"
#include "srs/params_file.hpp"
#include "support/fixed_blinding.hpp"
#include "support/trapdoor_oracle.hpp"

namespace cuzk {
namespace {

using test::Instance;

std::vector<uint8_t> read_bytes(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

std::string temporary_path() { return testing::TempDir() + "cuzk-groth16-" + std::to_string(getpid()) + ".params"; }

struct Made {
  Instance instance;
  Srs srs;
};

Made make_mul() {
  NoProgress quiet;
  Made out{test::mul_instance(2, 3), {}};
  out.srs = setup(out.instance.circuit, test::small_toxic_waste(), quiet).value();
  return out;
}

Result<Proof> prove_with(const Instance& instance, const Srs& srs, uint64_t r, uint64_t s,
                         ProveReport* report = nullptr) {
  CpuBackend backend;
  NoProgress quiet;
  const Blinding blinding = BlindingForTests::make(Fr::from_u64(r), Fr::from_u64(s));
  return prove(backend, instance.circuit, srs, instance.witness, blinding, quiet, report);
}

std::string hex(const Proof& proof) { return to_hex(encode(proof)); }

TEST(Setup, MulHasUpstreamsBytes) {
  const Made made = make_mul();
  EXPECT_EQ(made.srs.shape(), (SrsShape{2, 3, 2, 3, 1, 1}));
  NoProgress quiet;
  const std::string path = temporary_path();
  ASSERT_TRUE(write_params(path, made.srs, quiet).ok());
  const auto golden = read_bytes(CUZK_GOLDEN_DIR "/groth16-mul.params");
  ASSERT_EQ(golden.size(), 2136u);
  EXPECT_EQ(read_bytes(path), golden);
  // The streaming form gives the same file.
  const auto vk = setup_to_file(made.instance.circuit, test::small_toxic_waste(), path, quiet);
  ASSERT_TRUE(vk.ok());
  EXPECT_EQ(*vk, made.srs.vk);
  EXPECT_EQ(read_bytes(path), golden);
  std::remove(path.c_str());
}

TEST(Prove, MulHasUpstreamsBytes) {
  const Made made = make_mul();
  const auto plain = prove_with(made.instance, made.srs, 0, 0);
  ASSERT_TRUE(plain.ok()) << plain.error().describe();
  EXPECT_EQ(hex(*plain),
            "877e4f10ffa2b1e8528318c3d37fa365a7e8b35bb534e081ebd0c219a44b0405eaeb44e59d9d5c022b6b4cf5477e2f54"
            "a4888889bf2cee5b98d453eb027145e3913c5096b63627fea22c8e19bb845fb6b46fc487192d60db911b04c4d14b4fb4"
            "0402ec95270b7e7c2e58992245b4758cad5ad59421ca2846592135f70f649c0ad923f64befdb09f32df93bcdc4f3d476"
            "a42c08a09a44fba918d4659815e5146de1ee2d415a38e178da79e7ece616e3675da61c1ebd9b04a7f956de4af9a734df");
  const auto blinded = prove_with(made.instance, made.srs, 17, 19);
  ASSERT_TRUE(blinded.ok()) << blinded.error().describe();
  EXPECT_EQ(hex(*blinded),
            "b2e0777e23c71cad0a9f1f9d637e02c1627d2aab29f734a04f838876dc9958a326c8f28039d003859d53959cfef670a9"
            "88c430cfaf832f4eb30b6760d04d9c1082bb7304e37dc3bf5c764fe45343aeecf7e59474fefd2cfa72c38f34eceb6ad2"
            "00b2b25f0e40adc75caf71b19a34070215564397e8e4dde3aef313aa259e6809afd5c3a5eb32c5b3599edfc7002b4dd6"
            "8e07e9b41da88fde933e7ae503f7c41c69bc105e05d250942576faa89182045a2e70820ee120ccd8473c042d868cabfd");
}

// Random circuits, witnesses, trapdoors (with generators of their own) and blindings.
TEST(Prove, RandomCircuitsEqualTheTrapdoorsProof) {
  std::mt19937_64 rng(11);
  NoProgress quiet;
  CpuBackend backend;
  for (const size_t rows : {1, 2, 3, 7, 20, 60, 61, 127, 200}) {
    Instance instance = test::random_instance(rng, rows);
    if (instance.circuit.num_aux == 0) continue;
    const ToxicWaste toxic = test::random_toxic(rng);
    const auto srs = setup(instance.circuit, toxic, quiet);
    ASSERT_TRUE(srs.ok()) << srs.error().describe();
    EXPECT_EQ(srs->shape(), srs_shape(instance.circuit));
    const Fr r = test::random_fr(rng), s = test::random_fr(rng);
    const auto proof = prove(backend, instance.circuit, *srs, instance.witness, BlindingForTests::make(r, s), quiet);
    ASSERT_TRUE(proof.ok()) << rows << " rows: " << proof.error().describe();
    const auto aux = expand_witness(instance.circuit, instance.witness);
    ASSERT_TRUE(aux.ok());
    EXPECT_EQ(*proof, test::proof_from_trapdoor(instance.circuit, instance.witness.inputs, *aux, toxic, r, s));
  }
}

// Proofs that are finished side by side; one of bad sums is told of in its place.
TEST(Prove, SeveralAreFinishedTogether) {
  const Made made = make_mul();
  const Instance& instance = made.instance;
  CpuBackend backend;
  NoProgress quiet;
  ProveReport report;
  const auto sums = backend.evaluate(instance.circuit, made.srs, instance.witness, quiet, report);
  ASSERT_TRUE(sums.ok());
  std::vector<ProofSums> all(5, *sums);
  all[3].h += all[3].l;
  const std::vector<std::vector<Fr>> inputs(5, instance.witness.inputs);
  const auto proofs = finish_proofs(made.srs.vk, all, inputs, quiet, report);
  ASSERT_TRUE(proofs.ok() && proofs->size() == 5);
  for (size_t k = 0; k < 5; ++k) {
    const Result<Proof>& proof = proofs->at(k);
    ASSERT_EQ(proof.ok(), k != 3) << k;
    if (!proof.ok()) {
      EXPECT_EQ(proof.error().error_class, ErrorClass::kBadProof);
      continue;
    }
    EXPECT_TRUE(verify(PreparedVerifyingKey(made.srs.vk), *proof, std::span(inputs[k]).subspan(1)).ok());
    EXPECT_EQ(proof->a == proofs->at(0)->a, k == 0) << "fresh blinding";
  }
  class Stopped final : public Progress {
    void begin_stage(std::string_view, uint64_t, std::string_view) override {}
    void advance(uint64_t) override {}
    void end_stage() override {}
    bool stop_requested() const override { return true; }
  } stopped;
  EXPECT_EQ(finish_proofs(made.srs.vk, all, inputs, stopped, report).error().error_class, ErrorClass::kCancelled);
}

TEST(Prove, BlindingIsFresh) {
  const Made made = make_mul();
  CpuBackend backend;
  NoProgress quiet;
  const auto prove_once = [&] { return prove(backend, made.instance.circuit, made.srs, made.instance.witness, quiet); };
  const auto first = prove_once(), second = prove_once();
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_NE(first->a, second->a);
  EXPECT_NE(first->b, second->b);
  EXPECT_NE(first->c, second->c);
  const auto blinding = Blinding::random();
  ASSERT_TRUE(blinding.ok());
  EXPECT_NE(blinding->r(), blinding->s());
}

TEST(Prove, ReportNamesTheSteps) {
  const Made made = make_mul();
  ProveReport report;
  ASSERT_TRUE(prove_with(made.instance, made.srs, 1, 2, &report).ok());
  std::vector<std::string> names;
  for (const auto& step : report.steps) {
    names.push_back(step.name);
    EXPECT_GE(step.seconds, 0);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"expand witness", "matrices", "quotient", "sum h", "classify wires",
                                             "sum l", "sum a", "sum b_g1", "sum b_g2", "assemble", "self-check"}));
}

// Asks to stop from its k-th stage on.
class StoppingProgress final : public Progress {
 public:
  explicit StoppingProgress(size_t stages) : stages_(stages) {}
  void begin_stage(std::string_view, uint64_t, std::string_view) override { ++begun_; }
  void advance(uint64_t) override {}
  void end_stage() override { ++ended_; }
  bool stop_requested() const override { return begun_ >= stages_; }
  size_t begun() const { return begun_; }
  size_t ended() const { return ended_; }

 private:
  const size_t stages_;
  size_t begun_ = 0, ended_ = 0;
};

TEST(Prove, StopsBeforeTheNextStep) {
  const Made made = make_mul();
  CpuBackend backend;
  constexpr size_t kSteps = 11;
  for (size_t k = 0; k < kSteps; ++k) {
    StoppingProgress progress(k);
    const auto proof = prove(backend, made.instance.circuit, made.srs, made.instance.witness, progress);
    ASSERT_FALSE(proof.ok()) << k;
    EXPECT_EQ(proof.error().error_class, ErrorClass::kCancelled);
    EXPECT_EQ(proof.error().message, "cancelled");
    EXPECT_EQ(progress.begun(), k);
    EXPECT_EQ(progress.ended(), k);
  }
  StoppingProgress too_late(kSteps);
  EXPECT_TRUE(prove(backend, made.instance.circuit, made.srs, made.instance.witness, too_late).ok());
  EXPECT_EQ(too_late.begun(), kSteps);
}

TEST(Prove, UnsatisfiedWitnessIsRefusedWithItsConstraint) {
  std::mt19937_64 rng(12);
  NoProgress quiet;
  Made made = make_mul();
  made.instance.witness.inputs[1] = Fr::from_u64(7);  // 2 * 3 is not 7
  const auto proof = prove_with(made.instance, made.srs, 1, 2);
  ASSERT_FALSE(proof.ok());
  EXPECT_EQ(proof.error().error_class, ErrorClass::kUnsatisfied);
  EXPECT_EQ(proof.error().field, "constraint 0");

  // In a chain of multiplications the first row that the changed value enters is named.
  test::InstanceBuilder builder;
  std::vector<Wire> wires = {builder.field(Fr::from_u64(3))};
  for (int i = 0; i < 10; ++i) {
    wires.push_back(builder.field(builder.value(wires.back()).square()));
    builder.row({{wires[wires.size() - 2], Fr::one()}}, {{wires[wires.size() - 2], Fr::one()}},
                {{wires.back(), Fr::one()}});
  }
  Instance chain = builder.finish();
  const auto srs = setup(chain.circuit, test::random_toxic(rng), quiet);
  ASSERT_TRUE(srs.ok());
  EXPECT_TRUE(prove_with(chain, *srs, 1, 2).ok());
  chain.witness.fields[5] += Fr::one();
  const auto refused = prove_with(chain, *srs, 1, 2);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().error_class, ErrorClass::kUnsatisfied);
  EXPECT_EQ(refused.error().field, "constraint 4");
}

TEST(Prove, WrongParametersAreRefused) {
  Made made = make_mul();
  const auto expect = [&](const Srs& srs, ErrorClass error_class, const std::string& field) {
    const auto proof = prove_with(made.instance, srs, 1, 2);
    ASSERT_FALSE(proof.ok());
    EXPECT_EQ(proof.error().error_class, error_class) << proof.error().describe();
    EXPECT_EQ(proof.error().field, field);
  };
  Srs srs = made.srs;
  srs.vk.delta_g1 = G1Affine::infinity();
  expect(srs, ErrorClass::kCorrupt, "delta");
  srs = made.srs;
  srs.vk.delta_g2 = G2Affine::infinity();
  expect(srs, ErrorClass::kCorrupt, "delta");
  srs = made.srs;
  srs.l.pop_back();
  expect(srs, ErrorClass::kCorrupt, "l");
  srs = made.srs;
  srs.b_g2.push_back(srs.b_g2[0]);
  expect(srs, ErrorClass::kCorrupt, "b_g2");
  // Any wrong point of the right shape: the self-check refuses the proof.
  srs = made.srs;
  srs.h[0] = srs.h[1];
  expect(srs, ErrorClass::kBadProof, "");
  srs = made.srs;
  srs.l[1] = srs.l[0];
  expect(srs, ErrorClass::kBadProof, "");
  srs = made.srs;
  srs.a[2] = srs.a[1];
  expect(srs, ErrorClass::kBadProof, "");
  srs = made.srs;
  srs.b_g1[0] = srs.a[0];
  expect(srs, ErrorClass::kBadProof, "");
  srs = made.srs;
  srs.b_g2[0] = G2Curve::generator();
  expect(srs, ErrorClass::kBadProof, "");
  srs = made.srs;
  srs.vk.ic[1] = srs.vk.ic[0];
  expect(srs, ErrorClass::kBadProof, "");
  made.instance.witness.inputs.push_back(Fr::one());
  expect(made.srs, ErrorClass::kInternal, "");
}

TEST(Setup, DegenerateTrapdoorsAndUnconstrainedWires) {
  NoProgress quiet;
  const Instance mul = test::mul_instance(2, 3);
  for (int i = 0; i < 7; ++i) {
    ToxicWaste toxic = test::small_toxic_waste();
    const Secret<Fr>* const scalars[] = {&toxic.tau, &toxic.alpha, &toxic.beta, &toxic.gamma, &toxic.delta};
    if (i < 5) const_cast<Secret<Fr>*>(scalars[i])->expose() = Fr::zero();
    if (i == 5) toxic.g1 = G1Affine::infinity();
    if (i == 6) toxic.g2 = G2Affine::infinity();
    const auto result = setup(mul.circuit, toxic, quiet);
    ASSERT_FALSE(result.ok()) << i;
    EXPECT_EQ(result.error().error_class, ErrorClass::kUsage);
  }
  ToxicWaste in_domain = test::small_toxic_waste();
  in_domain.tau = Secret(fr_root_of_unity().pow(uint64_t{1} << 30));  // of order 4
  EXPECT_FALSE(setup(mul.circuit, in_domain, quiet).ok());

  test::InstanceBuilder builder;
  const Wire a = builder.field(Fr::from_u64(2));
  builder.field(Fr::from_u64(5));  // in no row
  const Wire c = builder.field(Fr::from_u64(4));
  builder.row({{a, Fr::one()}}, {{a, Fr::one()}}, {{c, Fr::one()}});
  const auto loose = setup(builder.finish().circuit, test::small_toxic_waste(), quiet);
  ASSERT_FALSE(loose.ok());
  EXPECT_EQ(loose.error().error_class, ErrorClass::kInvalidInput);
  EXPECT_EQ(loose.error().field, "aux[1]");

  const auto nowhere = setup_to_file(mul.circuit, test::small_toxic_waste(), "/no/such/directory/p", quiet);
  ASSERT_FALSE(nowhere.ok());
  EXPECT_EQ(nowhere.error().error_class, ErrorClass::kNotFound);
}

TEST(ToxicWaste, FromSeed) {
  std::array<uint8_t, 32> seed{};
  for (size_t i = 0; i < seed.size(); ++i) seed[i] = static_cast<uint8_t>(i);
  const ToxicWaste one = toxic_waste_from_seed(seed), same = toxic_waste_from_seed(seed);
  // Python: int.from_bytes(b"".join(sha256(b"cuzk development parameters v1" + name + bytes(range(32)) +
  // bytes([i])).digest() for i in (0, 1)), "little") % r
  const auto is = [](const Secret<Fr>& scalar, const char* hex_be) {
    return to_hex(scalar.expose().to_bytes_be()) == hex_be;
  };
  EXPECT_TRUE(is(one.tau, "376cee7a69296c0e7b649dbc02dc9f29d52761beac5be9599c75ebf573ed6cd7"));
  EXPECT_TRUE(is(one.alpha, "610359a55d7dd48ea977bfb26dc632f5bedb1a1f8641fc92ebd43b68b95c446b"));
  EXPECT_TRUE(is(one.beta, "0bdac1fe3d618ec4d09bd2a5593205c05052d236b37cea2d1788a4a74e979bc0"));
  EXPECT_TRUE(is(one.gamma, "0a38b3e07ca72076ff881e8482e986081f838e76c4786244c22dd645a8eb2a35"));
  EXPECT_TRUE(is(one.delta, "2c54a7160174e75d257d5971462a2a4824bad5b6508565493e2c6fa9d2f03607"));
  EXPECT_EQ(one.g1, G1Curve::generator());
  EXPECT_EQ(one.g2, G2Curve::generator());
  EXPECT_EQ(one.tau.expose(), same.tau.expose());
  seed[31] ^= 1;
  EXPECT_NE(toxic_waste_from_seed(seed).tau.expose(), one.tau.expose());
  const auto random = random_toxic_waste(), other = random_toxic_waste();
  ASSERT_TRUE(random.ok() && other.ok());
  EXPECT_NE(random->tau.expose(), other->tau.expose());
}

}  // namespace
}  // namespace cuzk
