// What a proof and a setup really allocate, against what they say beforehand.
#include "groth16/memory.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <thread>

#include "groth16/cpu_backend.hpp"
#include "groth16/groth16_test_support.hpp"
#include "groth16/prove.hpp"
#include "groth16/setup.hpp"
#include "parallel/parallel.hpp"
#include "srs/params_file.hpp"
#include "support/allocations.hpp"

namespace cuzk {
namespace {

// Notes the most that is allocated while each stage is open.
class StagePeaks final : public Progress {
 public:
  void begin_stage(std::string_view name, uint64_t, std::string_view) override {
    names_.emplace_back(name);
    test::peak_allocated_bytes = test::allocated_bytes.load();
  }
  void advance(uint64_t) override {}
  void end_stage() override { peaks_.emplace_back(names_.back(), test::peak_allocated_bytes - before_); }

  const std::vector<std::pair<std::string, size_t>>& peaks() const { return peaks_; }

 private:
  const size_t before_ = test::allocated_bytes;
  std::vector<std::string> names_;
  std::vector<std::pair<std::string, size_t>> peaks_;
};

// A share of `fields` percent of field wires, the others bits; rows enough for a domain of 2^log2_size.
test::Instance instance_of(unsigned log2_size, unsigned fields) {
  std::mt19937_64 rng(log2_size + fields);
  test::InstanceBuilder builder;
  Wire last = builder.input(test::random_fr(rng));
  const size_t rows = (size_t{1} << log2_size) - 8;
  for (size_t i = 0; i < rows; ++i) {
    if (rng() % 100 < fields) {
      const Wire next = builder.field(builder.value(last) * builder.value(last));
      builder.row({{last, Fr::one()}}, {{last, Fr::one()}}, {{next, Fr::one()}});
      last = next;
    } else {
      const Wire b = builder.bit(rng() % 2);
      builder.row({{Wire::one(), Fr::one()}, {b, -Fr::one()}}, {{b, Fr::one()}}, {});
    }
  }
  return builder.finish();
}

struct Case {
  unsigned fields;
  size_t threads;
};

// Never more than said; and nearly as much, unless this machine has fewer processors than threads were asked for: then
// oneTBB makes fewer.
void expect_close(size_t taken, uint64_t said, double least, const std::string& name) {
  EXPECT_LE(static_cast<double>(taken), 1.02 * static_cast<double>(said) + 65536) << name;
  if (parallel_threads() > std::thread::hardware_concurrency()) return;
  EXPECT_GE(static_cast<double>(taken), least * static_cast<double>(said)) << name;
}

class Memory : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override { set_parallel_threads(GetParam().threads); }
  void TearDown() override { set_parallel_threads(before_); }

 private:
  const size_t before_ = parallel_threads();
};

TEST_P(Memory, OfAProofStepByStep) {
  const test::Instance instance = instance_of(15, GetParam().fields);
  const CircuitSizes sizes = sizes_of(instance.circuit);
  std::mt19937_64 rng(1);
  NoProgress quiet;
  const Srs srs = setup(instance.circuit, test::random_toxic(rng), quiet).value();
  EXPECT_EQ(srs.shape(), sizes.srs_shape());
  CpuBackend backend;
  StagePeaks peaks;
  ProveReport report;
  ASSERT_TRUE(backend.evaluate(instance.circuit, srs, instance.witness, peaks, report).ok());
  const std::vector<StepMemory> said = CpuBackend::memory(sizes, GetParam().threads);
  ASSERT_EQ(peaks.peaks().size(), said.size());
  size_t most = 0;
  for (size_t i = 0; i < said.size(); ++i) {
    const auto& [name, taken] = peaks.peaks()[i];
    EXPECT_EQ(name, said[i].name);
    expect_close(taken, said[i].bytes, 0.7, name);
    most = std::max(most, taken);
  }
  expect_close(most, peak_bytes(said), 0.8, "all");
}

TEST_P(Memory, OfASetup) {
  const test::Instance instance = instance_of(15, GetParam().fields);
  const std::vector<StepMemory> said = setup_memory(sizes_of(instance.circuit), GetParam().threads);
  std::mt19937_64 rng(2);
  const ToxicWaste toxic = test::random_toxic(rng);
  const std::string path = testing::TempDir() + "memory_test.params";
  StagePeaks peaks;
  const size_t taken = test::peak_of([&] {
    NoProgress quiet;
    ASSERT_TRUE(setup_to_file(instance.circuit, toxic, path, quiet).ok());
  });
  expect_close(taken, peak_bytes(said), 0.8, "setup");

  NoProgress quiet;
  std::optional<Srs> srs;
  const size_t reading = test::peak_of([&] { srs = read_params(path, {}, quiet).value(); });
  expect_close(reading, srs_bytes(srs->shape()) + read_params_scratch_bytes(GetParam().threads), 0.9, "reading");
  std::remove(path.c_str());
}

INSTANTIATE_TEST_SUITE_P(Circuits, Memory, testing::Values(Case{1, 1}, Case{1, 4}, Case{95, 2}));

}  // namespace
}  // namespace cuzk
