#include "filecoin/circuit_spec.hpp"

#include <gtest/gtest.h>

#include <set>

#include "base/hex.hpp"

namespace cuzk {
namespace {

TEST(CircuitSpec, CatalogHasEveryShapeOnce) {
  const auto specs = circuit_specs();
  EXPECT_EQ(specs.size(), porep_shapes().size() + snap_shapes().size() + post_shapes().size());
  std::set<std::string_view> ids;
  std::set<std::string> stems;
  for (const CircuitSpec& spec : specs) {
    EXPECT_TRUE(ids.insert(spec.id()).second) << spec.id();
    EXPECT_TRUE(stems.insert(spec.parameter_file_stem()).second) << spec.id();
    EXPECT_EQ(circuit_spec_by_id(spec.id()), &spec);
    EXPECT_EQ(&circuit_spec_of(spec.shape()), &spec);
    EXPECT_TRUE(spec.id().starts_with(std::string(to_string(spec.kind())) + "-")) << spec.id();
  }
  for (const char* id : {"porep-32g", "porep-64g", "snap-32g", "window-32g", "winning-32g", "winning-2k"}) {
    EXPECT_TRUE(circuit_spec_by_id(id) != nullptr && circuit_spec_by_id(id)->published()) << id;
  }
  EXPECT_FALSE(circuit_spec_by_id("porep-4k")->published());
  for (const char* id : {"", "porep", "porep-32G", "wpost-32g", "porep-32g "}) {
    EXPECT_EQ(circuit_spec_by_id(id), nullptr) << id;
  }
}

TEST(CircuitSpec, TellsWhatItsShapeSays) {
  struct Case {
    const char* id;
    ProofKind kind;
    const char* size;
    uint64_t bytes;
    uint32_t partitions, challenges;
    const char* stem;
  };
  const Case kCases[] = {
      {"porep-32g", ProofKind::kPorep, "32GiB", uint64_t{32} << 30, 10, 18,
       "v28-stacked-proof-of-replication-merkletree-poseidon_hasher-8-8-0-sha256_hasher-"
       "82a357d2f2ca81dc61bb45f4a762807aedee1b0a53fd6c4e77b46a01bfef7820"},
      {"snap-32g", ProofKind::kSnap, "32GiB", uint64_t{32} << 30, 16, 86,
       "v28-empty-sector-update-merkletree-poseidon_hasher-8-8-0-"
       "3b7f44a9362e3985369454947bc94022e118211e49fd672d52bec1cbfd599d18"},
      {"window-32g", ProofKind::kWindow, "32GiB", uint64_t{32} << 30, 1, 23490,
       "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-8-0-"
       "0377ded656c6f524f1618760bffe4e0a1c51d5a70c4509eedae8a27555733edc"},
      {"winning-32g", ProofKind::kWinning, "32GiB", uint64_t{32} << 30, 1, 66,
       "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-8-0-"
       "559e581f022bb4e4ec6e719e563bf0e026ad6de42e56c18714a2c692b1b88d7e"},
  };
  for (const Case& c : kCases) {
    const CircuitSpec* spec = circuit_spec_by_id(c.id);
    ASSERT_NE(spec, nullptr) << c.id;
    EXPECT_EQ(spec->kind(), c.kind) << c.id;
    EXPECT_EQ(spec->sector_size_name(), c.size) << c.id;
    EXPECT_EQ(spec->sector_bytes(), c.bytes) << c.id;
    EXPECT_EQ(spec->partitions(), c.partitions) << c.id;
    EXPECT_EQ(spec->challenges(), c.challenges) << c.id;
    EXPECT_EQ(spec->parameter_file_stem(), c.stem) << c.id;
  }
}

// The closed forms against the circuits themselves; that these are upstream's, the tests of each kind show.
TEST(CircuitSpec, CountsAreThoseOfTheCompiledCircuit) {
  for (const CircuitSpec& spec : circuit_specs()) {
    const CompiledCircuit circuit = spec.compile();
    const WireDensities densities = wire_densities(circuit);
    const CircuitCounts expected = {circuit.num_inputs,      circuit.num_aux,         circuit.num_constraints,
                                    densities.a_aux.count(), densities.b_aux.count(), densities.b_input.count(),
                                    circuit.num_bits,        circuit.num_fields};
    EXPECT_EQ(spec.counts(), expected) << spec.id();
    EXPECT_EQ(spec.counts().log2_domain(), circuit.log2_domain()) << spec.id();
    EXPECT_EQ(spec.counts().rows(), circuit.rows()) << spec.id();
  }
}

// Lengths of the vectors of Filecoin's published files; inputs, aux and densities are upstream's.
TEST(CircuitSpec, ParameterLengths) {
  const SrsShape porep = circuit_spec_by_id("porep-32g")->counts().srs_shape();
  EXPECT_EQ(porep, (SrsShape{328, 134217727, 130169893, 328 + 129753292, 1 + 33112281, 1 + 33112281}));
  const SrsShape small = circuit_spec_by_id("porep-2k")->counts().srs_shape();
  EXPECT_EQ(params_file_bytes(small), 1114707768u);
}

class Steps final : public Progress {
 public:
  void begin_stage(std::string_view, uint64_t total, std::string_view) override { total_ = total; }
  void advance(uint64_t done) override {
    EXPECT_EQ(done, ++done_);
    EXPECT_LE(done, total_);
  }
  void end_stage() override { ended_ = done_ == total_; }
  bool ended() const { return ended_; }

 private:
  uint64_t total_ = 0, done_ = 0;
  bool ended_ = false;
};

TEST(CircuitSpec, DigestsOfEveryKind) {
  const std::pair<const char*, const char*> kCases[] = {
      {"porep-2k", "55243c3d8800ddf0ccd7e8f75dbab05392ef83f1bdc098bb27c294766781cfeb"},
      {"snap-2k", "a7ad8f624ccb52cf15f8d744b1424c8ba4392a7720b0f1dccd2941633921ac57"},
      {"window-2k", "ffa5dc2bf140c1ffabe792257baf962cfe208844b7a00e8b84851d1ecb788293"},
      {"winning-2k", "be2536b53059cdab99f7325747dc6fdcbd38be25fa4295792320af8b11dcabb5"},
  };
  for (const auto& [id, digest] : kCases) {
    Steps steps;
    EXPECT_EQ(to_hex(circuit_spec_by_id(id)->digest(steps).r1cs_digest), digest) << id;
    EXPECT_TRUE(steps.ended()) << id;
  }
}

TEST(ProofKind, Names) {
  for (const ProofKind kind : kProofKinds) EXPECT_EQ(proof_kind_by_name(to_string(kind)), kind);
  // The reference's.
  for (const char* name : {"porep", "porep-c2", "seal-commit"}) EXPECT_EQ(proof_kind_by_name(name), ProofKind::kPorep);
  for (const char* name : {"snap", "snap-deals", "update"}) EXPECT_EQ(proof_kind_by_name(name), ProofKind::kSnap);
  for (const char* name : {"wpost", "window-post", "windowpost"}) {
    EXPECT_EQ(proof_kind_by_name(name), ProofKind::kWindow);
  }
  for (const char* name : {"winning", "winning-post", "winningpost"}) {
    EXPECT_EQ(proof_kind_by_name(name), ProofKind::kWinning);
  }
  for (const char* name : {"", "Porep", "post", "window ", "porep-32g"}) EXPECT_FALSE(proof_kind_by_name(name)) << name;
}

}  // namespace
}  // namespace cuzk
