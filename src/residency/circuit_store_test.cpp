// The store of circuits: what it accepts, what it refuses and for how long, and what it reads again.
#include "residency/circuit_store.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "circuit/compiled_file.hpp"
#include "residency/parameter_files.hpp"
#include "srs/digest.hpp"
#include "srs/params_file.hpp"
#include "srs/srs_test_support.hpp"

namespace cuzk {
namespace {

const CircuitSpec& window() { return *circuit_spec_by_id("window-2k"); }
const CircuitSpec& winning() { return *circuit_spec_by_id("winning-2k"); }

// Counts stages by name.
class Stages final : public Progress {
 public:
  void begin_stage(std::string_view name, uint64_t, std::string_view) override { ++counts[std::string(name)]; }
  void advance(uint64_t) override {}
  void end_stage() override {}
  std::map<std::string, int> counts;
};

// Parameters of the right shape whose points are on the curve, which is all that the store looks at; made once.
const std::vector<uint8_t>& good_params() {
  static const std::vector<uint8_t> bytes = [] {
    const test::TemporaryDirectory folder;
    NoProgress progress;
    const Srs srs = test::make_srs(window().counts().srs_shape());
    EXPECT_TRUE(write_params(folder.file("x.params"), srs, progress).ok());
    return test::read_bytes(folder.file("x.params"));
  }();
  return bytes;
}

const std::string& good_digest() {
  static const std::string digest = [] {
    NoProgress progress;
    return file_digest(MemorySource(good_params()), progress).value();
  }();
  return digest;
}

class CircuitStoreTest : public testing::Test {
 protected:
  CircuitStoreTest() { test::write_bytes(params_, good_params()); }

  // A new store, as after a restart; the digest of good_params() is the published one.
  CircuitStore& start(bool binding = true) {
    warnings_.clear();
    store_.emplace(CircuitStoreOptions{.params_directory = folder_.file("params"),
                                       .cache_directory = folder_.file("cache"),
                                       .warn = [this](const Error& error) { warnings_.push_back(error.describe()); },
                                       .published =
                                           [binding](const CircuitSpec&) {
                                             return PublishedDigest{good_digest(), binding};
                                           }});
    return *store_;
  }
  // What the digest of the parameters and the compiling of the circuit took.
  struct Work {
    int digests = 0, compiled = 0;
    friend bool operator==(const Work&, const Work&) = default;
  };
  Work prepare_ok() {
    Stages stages;
    const Result<CircuitFiles> files = store_->prepare(window(), stages);
    EXPECT_TRUE(files.ok()) << (files.ok() ? "" : files.error().describe());
    if (files.ok()) {
      EXPECT_EQ(files.value().params_file, params_);
      EXPECT_TRUE(load_compiled_circuit(files.value().circuit_file, "window-2k").ok());
      EXPECT_EQ(files.value().spec, &window());
    }
    return {stages.counts["digest"], stages.counts["compiling the circuit"]};
  }
  Error refusal(Stages* stages = nullptr) {
    Stages none;
    const Result<CircuitFiles> files = store_->prepare(window(), stages == nullptr ? none : *stages);
    EXPECT_FALSE(files.ok());
    return files.ok() ? Error() : files.error();
  }
  std::string digests_file() const { return folder_.file("cache") + "/digests"; }
  std::string compiled() const { return compiled_circuit_path(window(), folder_.file("cache")); }

  const test::TemporaryDirectory folder_;
  const std::string params_ = [this] {
    std::filesystem::create_directories(folder_.file("params"));
    return parameter_files(window(), folder_.file("params")).params;
  }();
  std::optional<CircuitStore> store_;
  std::vector<std::string> warnings_;
};

TEST_F(CircuitStoreTest, FirstTimeEverythingThenNothing) {
  start();
  EXPECT_FALSE(store_->has_published_digest(window()));
  EXPECT_EQ(prepare_ok(), (Work{1, 1}));
  EXPECT_TRUE(store_->has_published_digest(window()));
  EXPECT_FALSE(store_->has_published_digest(winning())) << "no file";
  EXPECT_EQ(prepare_ok(), (Work{0, 0}));
  start();
  EXPECT_EQ(prepare_ok(), (Work{0, 0})) << "after a restart the digest is remembered, the circuit kept";
  EXPECT_TRUE(warnings_.empty()) << warnings_[0];
}

TEST_F(CircuitStoreTest, DigestsAreCheckedOnlyWhereTheyBind) {
  start(false);
  EXPECT_EQ(prepare_ok().digests, 0);
  store_.emplace(CircuitStoreOptions{.params_directory = folder_.file("params"),
                                     .cache_directory = folder_.file("cache"),
                                     .check_digests = false,
                                     .published = [](const CircuitSpec&) {
                                       return PublishedDigest{"00", true};
                                     }});
  EXPECT_EQ(prepare_ok().digests, 0);
}

TEST_F(CircuitStoreTest, AChangedFileIsReadAgain) {
  start();
  prepare_ok();
  test::write_bytes(params_, good_params());
  EXPECT_EQ(prepare_ok().digests, 1) << "the same bytes, but who knows";
  std::filesystem::last_write_time(params_, std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
  EXPECT_EQ(prepare_ok().digests, 1);
  EXPECT_EQ(prepare_ok().digests, 0);
  std::filesystem::copy_file(params_, params_ + ".copy");
  std::filesystem::rename(params_ + ".copy", params_);
  start();
  EXPECT_EQ(prepare_ok().digests, 1) << "another file of that name";
}

TEST_F(CircuitStoreTest, MissingParameters) {
  start();
  std::filesystem::remove(params_);
  const Error error = refusal();
  EXPECT_EQ(error.error_class, ErrorClass::kNotFound);
  EXPECT_EQ(error.file, params_);
  EXPECT_FALSE(store_->verifying_key(window()).ok());
  test::write_bytes(params_, good_params());
  EXPECT_EQ(prepare_ok().digests, 1) << "nothing is remembered of what was not there";
}

struct Damage {
  const char* name;
  const char* says;
  bool seen_in_head;  // without reading all of the file
  std::function<std::vector<uint8_t>()> bytes;
};

std::vector<uint8_t> text(std::string_view t) { return {t.begin(), t.end()}; }
std::vector<uint8_t> flipped(size_t at) {
  std::vector<uint8_t> bytes = good_params();
  bytes[at] ^= 1;
  return bytes;
}

std::vector<Damage> damages() {
  const SrsShape shape = window().counts().srs_shape();
  const uint64_t h = section_offset(shape, Section::kH), b_g2 = section_offset(shape, Section::kBG2);
  return {
      {"empty", "empty", true, [] { return std::vector<uint8_t>(); }},
      {"a web page", "web page", true,
       [] { return text("\n<!DOCTYPE html>\n<html><head><title>404 Not Found</title></head></html>\n"); }},
      {"text", "text", true,
       [] { return text("version https://git-lfs.github.com/spec/v1\noid sha256:0123456789\n"); }},
      {"zeros", "", true, [] { return std::vector<uint8_t>(good_params().size()); }},
      {"cut by a byte", "", true, [] { return std::vector(good_params().begin(), good_params().end() - 1); }},
      {"cut in half", "", true, [] { return std::vector(good_params().begin(), good_params().begin() + 1'000'000); }},
      {"cut in the key", "", true, [] { return std::vector(good_params().begin(), good_params().begin() + 500); }},
      {"a byte more", "", true,
       [] {
         std::vector<uint8_t> bytes = good_params();
         bytes.push_back(0);
         return bytes;
       }},
      {"a flipped bit in the key's first point", "", true, [] { return flipped(40); }},
      {"in the key's last point", "", true, [] { return flipped(kVkPointBytes - 1); }},
      {"in the count of ic", "", true, [] { return flipped(kVkPointBytes + 3); }},
      {"in a point of ic", "", true, [] { return flipped(kVkPointBytes + kCountBytes + 50); }},
      {"in the count of h", "", true, [h] { return flipped(h - 1); }},
      {"in a point of h", "not the published parameters", false, [h] { return flipped(h + 12345 * kG1Bytes + 7); }},
      {"in the last point", "not the published parameters", false,
       [b_g2] { return flipped(b_g2 + 77 * kG2Bytes + 191); }},
      {"in the last byte", "not the published parameters", false, [] { return flipped(good_params().size() - 1); }},
  };
}

TEST_F(CircuitStoreTest, DamagedParametersAreNeverAccepted) {
  for (const Damage& damage : damages()) {
    SCOPED_TRACE(damage.name);
    test::write_bytes(params_, damage.bytes());
    start();
    Stages stages;
    const Error error = refusal(&stages);
    EXPECT_EQ(error.error_class, ErrorClass::kCorrupt) << error.describe();
    EXPECT_EQ(error.file, params_);
    EXPECT_NE(error.message.find(damage.says), std::string::npos) << error.describe();
    EXPECT_EQ(stages.counts["digest"], damage.seen_in_head ? 0 : 1);
    EXPECT_EQ(stages.counts["compiling the circuit"], 0) << "nothing is made for parameters that cannot be used";
    // Not good the second time either, nor for the next process; but it is not read again for every request.
    Stages again;
    EXPECT_EQ(refusal(&again).message, error.message);
    EXPECT_EQ(again.counts["digest"], 0);
    EXPECT_EQ(store_->verifying_key(window()).ok(), !damage.seen_in_head);
    start();
    EXPECT_EQ(refusal().error_class, ErrorClass::kCorrupt);
    EXPECT_FALSE(std::filesystem::exists(digests_file())) << "nothing is known of a bad file";
    // Replaced by the right one it is accepted without a restart.
    test::write_bytes(params_, good_params());
    EXPECT_EQ(prepare_ok().digests, 1);
    std::filesystem::remove_all(folder_.file("cache"));
  }
}

TEST_F(CircuitStoreTest, GoodThenDamagedInPlace) {
  start();
  prepare_ok();
  std::vector<uint8_t> bytes = flipped(good_params().size() - 100);
  test::write_bytes(params_, bytes);
  EXPECT_EQ(refusal().error_class, ErrorClass::kCorrupt);
  start();
  EXPECT_EQ(refusal().error_class, ErrorClass::kCorrupt) << "the remembered digest was of another file";
}

TEST_F(CircuitStoreTest, ParametersAlone) {
  start();
  Stages stages;
  EXPECT_TRUE(store_->check_parameters(window(), stages).ok());
  EXPECT_EQ(stages.counts["digest"], 1);
  EXPECT_FALSE(std::filesystem::exists(compiled()));
  EXPECT_EQ(prepare_ok(), (Work{0, 1}));
  EXPECT_EQ(store_->check_parameters(winning(), stages).error().error_class, ErrorClass::kNotFound);
}

TEST_F(CircuitStoreTest, ParametersOfAnotherCircuit) {
  test::write_bytes(parameter_files(winning(), folder_.file("params")).params, good_params());
  start();
  Stages stages;
  const Result<CircuitFiles> files = store_->prepare(winning(), stages);
  ASSERT_FALSE(files.ok());
  EXPECT_EQ(files.error().error_class, ErrorClass::kCorrupt);
  EXPECT_EQ(stages.counts["digest"], 0) << "the counts tell";
}

TEST_F(CircuitStoreTest, AFolderOrADeviceIsNoFile) {
  std::filesystem::remove(params_);
  std::filesystem::create_directory(params_);
  start();
  EXPECT_EQ(refusal().error_class, ErrorClass::kCorrupt);
}

TEST_F(CircuitStoreTest, TheMemoryOfDigestsIsOnlyAMemory) {
  start();
  prepare_ok();
  const std::vector<uint8_t> good = test::read_bytes(digests_file());
  std::vector<std::pair<std::string, std::vector<uint8_t>>> bad = {
      {"empty", {}}, {"cut", {good.begin(), good.end() - 3}}, {"text", text("nonsense\n")}, {"longer", good}};
  bad[3].second.push_back('\n');
  for (size_t at = 0; at < good.size(); at += 19) {
    bad.emplace_back("flipped at " + std::to_string(at), good);
    bad.back().second[at] ^= 1;
  }
  for (const auto& [name, bytes] : bad) {
    SCOPED_TRACE(name);
    test::write_bytes(digests_file(), bytes);
    start();
    EXPECT_EQ(prepare_ok().digests, 1);
    EXPECT_EQ(test::read_bytes(digests_file()), good) << "made anew";
  }
  std::filesystem::remove(digests_file());
  start();
  EXPECT_EQ(prepare_ok().digests, 1);
}

TEST_F(CircuitStoreTest, DigestsOfTwoFoldersLieTogether) {
  start();
  prepare_ok();
  const std::string second = folder_.file("second");
  std::filesystem::create_directory(second);
  test::write_bytes(parameter_files(window(), second).params, good_params());
  CircuitStoreOptions options = store_->options();
  options.params_directory = second;
  NoProgress progress;
  ASSERT_TRUE(CircuitStore(options).prepare(window(), progress).ok());
  Stages stages;
  ASSERT_TRUE(CircuitStore(options).prepare(window(), stages).ok());
  EXPECT_EQ(stages.counts["digest"], 0);
  start();
  EXPECT_EQ(prepare_ok().digests, 0);
}

TEST_F(CircuitStoreTest, CompiledCircuitIsMadeAnewWhereItIsNotGood) {
  start();
  prepare_ok();
  std::filesystem::remove(compiled());
  EXPECT_EQ(prepare_ok(), (Work{0, 1})) << "also without a restart";
  std::vector<uint8_t> bytes = test::read_bytes(compiled());
  bytes[bytes.size() / 2] ^= 1;
  test::write_bytes(compiled(), bytes);
  EXPECT_EQ(prepare_ok(), (Work{0, 1}));
  ASSERT_EQ(warnings_.size(), 1);
  EXPECT_NE(warnings_[0].find(compiled()), std::string::npos);
  EXPECT_EQ(prepare_ok(), (Work{0, 0}));
}

TEST_F(CircuitStoreTest, WithoutAFolderThatKeepsThem) {
  test::write_bytes(folder_.file("cache"), text("a file"));
  start();
  const Error error = refusal();
  EXPECT_EQ(error.error_class, ErrorClass::kIo) << error.describe();
  EXPECT_EQ(warnings_.size(), 2) << "neither the digest nor the circuit is kept";
  CircuitStore nowhere({.params_directory = folder_.file("params"), .cache_directory = ""});
  NoProgress progress;
  EXPECT_EQ(nowhere.prepare(window(), progress).error().error_class, ErrorClass::kUsage);
}

TEST_F(CircuitStoreTest, VerifyingKeyIsReadOnceAFile) {
  start();
  const auto first = store_->verifying_key(window());
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(first.value()->num_inputs(), window().counts().inputs - 1);
  EXPECT_EQ(store_->verifying_key(window()).value(), first.value());
  test::write_bytes(params_, good_params());
  EXPECT_NE(store_->verifying_key(window()).value(), first.value());
}

// Waits in a stage until it is let go.
class Gate final : public Progress {
 public:
  void begin_stage(std::string_view name, uint64_t, std::string_view) override {
    if (name != "digest") return;
    ++digests;
    inside = true;
    while (!open) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  void advance(uint64_t) override {}
  void end_stage() override {}
  std::atomic<bool> inside{false}, open{false};
  std::atomic<int> digests{0};
};

TEST_F(CircuitStoreTest, TheSameCircuitIsPreparedOnceAndOthersMeanwhile) {
  start();
  Gate gate;
  std::atomic<int> done{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      EXPECT_TRUE(store_->prepare(window(), gate).ok());
      ++done;
    });
  }
  while (!gate.inside) std::this_thread::yield();
  // The other circuit, and the key of this one, do not wait; there are no parameters of the other.
  NoProgress progress;
  EXPECT_EQ(store_->prepare(winning(), progress).error().error_class, ErrorClass::kNotFound);
  EXPECT_TRUE(store_->verifying_key(window()).ok());
  EXPECT_EQ(done, 0);
  gate.open = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(gate.digests, 1);
}

TEST_F(CircuitStoreTest, ChangedWhileItIsRead) {
  start();
  Gate gate;
  std::optional<Error> error;
  std::thread thread([&] {
    const auto files = store_->prepare(window(), gate);
    if (!files.ok()) error = files.error();
  });
  while (!gate.inside) std::this_thread::yield();
  // Bytes that were read already or not, with the time set back: only the inode's own time tells.
  const auto time = std::filesystem::last_write_time(params_);
  test::write_bytes(params_, good_params());
  std::filesystem::last_write_time(params_, time);
  gate.open = true;
  thread.join();
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->error_class, ErrorClass::kIo) << error->describe();
  EXPECT_FALSE(std::filesystem::exists(digests_file()));
  EXPECT_EQ(prepare_ok().digests, 1);
}

TEST(PublishedDigests, EveryPublishedCircuitHasOne) {
  for (const CircuitSpec& circuit : circuit_specs()) {
    SCOPED_TRACE(circuit.id());
    const auto published = published_digest(circuit);
    ASSERT_EQ(published.has_value(), circuit.published());
    if (!published) continue;
    EXPECT_EQ(published->digest.size(), 32);
    const bool large = circuit.id().ends_with("32g") || circuit.id().ends_with("64g");
    EXPECT_EQ(published->binding, large);
  }
  // As the reference's parameters are listed elsewhere.
  const auto digest = [](const char* id) { return published_digest(*circuit_spec_by_id(id))->digest; };
  EXPECT_EQ(digest("porep-32g"), "6a388072a518cf46ebd661f5cc46900a");
  EXPECT_EQ(digest("porep-64g"), "1801f8a6e1b00bceb00cc27314bb5ce3");
  EXPECT_EQ(digest("window-32g"), "2cf49eb26f1fee94c85781a390ddb4c8");
  EXPECT_EQ(digest("winning-32g"), "d84f79a16fe40e9e25a36e2107bb1ba0");
  EXPECT_EQ(digest("snap-32g"), "1b3cfd761a961543f9eb273e435a06a2");
  EXPECT_EQ(digest("snap-64g"), "1a392e7b759fb18e036c7559b5ece816");
}

TEST(RememberedDigests, PathsWithSpacesAndWithoutFolder) {
  const test::TemporaryDirectory folder;
  const std::string digest(32, 'a');
  RememberedDigests digests(folder.file("cache"));
  const FileStamp stamp{.bytes = 1, .inode = 2, .modified_ns = -3, .changed_ns = 4};
  EXPECT_FALSE(digests.find("/a b/c", stamp).has_value());
  ASSERT_TRUE(digests.remember("/a b/c", stamp, digest).ok());
  ASSERT_TRUE(digests.remember("/x", stamp, std::string(32, 'b')).ok());
  EXPECT_EQ(digests.find("/a b/c", stamp), digest);
  EXPECT_EQ(digests.find("/a b/./c", stamp), digest);
  FileStamp other = stamp;
  other.changed_ns = 5;
  EXPECT_FALSE(digests.find("/a b/c", other).has_value());
  ASSERT_TRUE(digests.remember("/with\nfeed", stamp, digest).ok());
  EXPECT_FALSE(digests.find("/with\nfeed", stamp).has_value());
  EXPECT_EQ(digests.find("/x", stamp), std::string(32, 'b'));
  RememberedDigests nowhere("");
  EXPECT_TRUE(nowhere.remember("/x", stamp, digest).ok());
  EXPECT_FALSE(nowhere.find("/x", stamp).has_value());
}

}  // namespace
}  // namespace cuzk
