#include "queue/submission.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "base/hex.hpp"
#include "queue/job_id.hpp"
#include "queue/queue_test_util.hpp"

namespace cuzk {
namespace {

using queue_test::random_submission;
using queue_test::Rng;

// One with every field, fixed.
Submission example() {
  Submission s;
  s.request_id = "porep-1000-42";
  s.kind = ProofKind::kSnap;
  s.priority = Priority::kHigh;
  s.deadline = std::chrono::system_clock::time_point(std::chrono::seconds(1'800'000'000));
  s.sector_size = uint64_t{32} << 30;
  s.registered_proof = 3;
  s.vanilla_proof = "{}";
  s.vanilla_proofs = {"ab", "", "c"};
  s.sector_number = 42;
  s.miner_id = 1000;
  s.randomness = std::string(32, '\x05');
  s.partition_index = 7;
  s.comm_r_old = std::string(32, '\x01');
  s.comm_r_new = std::string(32, '\x02');
  s.comm_d_new = std::string(32, '\x03');
  return s;
}

TEST(Submission, ComesBackFromItsEncoding) {
  Rng rng(1);
  for (int i = 0; i < 2000; ++i) {
    const Submission s = i == 0 ? Submission{} : random_submission(rng);
    const std::string encoded = encode_submission(s);
    const Result<Submission> decoded = decode_submission(encoded);
    ASSERT_TRUE(decoded.ok()) << decoded.error().describe();
    EXPECT_EQ(*decoded, s);
    EXPECT_EQ(encode_submission(*decoded), encoded);
    EXPECT_EQ(decoded->digest(), s.digest());
  }
}

// Computed by Python's hashlib from the description in submission.cpp.
TEST(Submission, DigestIsTheDescribedOne) {
  EXPECT_EQ(to_hex(example().digest()), "9684b5b03ae1bbcc9bd6b15b066548226a9d717b2cc02e119059fb186ae5cf6d");
  EXPECT_EQ(to_hex(Submission{}.digest()), "8e43ba2c4f24ba2109141a46b30b2d3b40e9320366a22c6a84c4428277e28af8");
}

TEST(Submission, DigestIsOfThePayloadAlone) {
  const PayloadDigest digest = example().digest();
  const std::vector<std::function<void(Submission&)>> same = {[](Submission& s) { s.request_id = "other"; },
                                                              [](Submission& s) { s.priority.reset(); },
                                                              [](Submission& s) { s.deadline.reset(); }};
  for (const auto& change : same) {
    Submission s = example();
    change(s);
    EXPECT_EQ(s.digest(), digest);
    EXPECT_NE(encode_submission(s), encode_submission(example()));
  }
  const std::vector<std::function<void(Submission&)>> different = {
      [](Submission& s) { s.kind = ProofKind::kPorep; }, [](Submission& s) { s.sector_size = 2048; },
      [](Submission& s) { s.registered_proof ^= uint64_t{1} << 63; }, [](Submission& s) { s.vanilla_proof += ' '; },
      [](Submission& s) { s.vanilla_proofs[0] = "aB"; }, [](Submission& s) { s.vanilla_proofs.pop_back(); },
      [](Submission& s) { s.vanilla_proofs.emplace_back(); },
      // The same bytes, otherwise divided.
      [](Submission& s) {
        s.vanilla_proofs = {"a", "b", "c"};
      },
      [](Submission& s) { std::swap(s.vanilla_proofs[0], s.vanilla_proofs[1]); },
      [](Submission& s) { std::swap(s.comm_r_old, s.comm_r_new); }, [](Submission& s) { s.comm_d_new.clear(); },
      [](Submission& s) { s.sector_number = 43; }, [](Submission& s) { s.miner_id = 1001; },
      [](Submission& s) { s.randomness[31] = 6; }, [](Submission& s) { s.partition_index = 8; }};
  std::vector<PayloadDigest> seen = {digest};
  for (const auto& change : different) {
    Submission s = example();
    change(s);
    EXPECT_EQ(std::count(seen.begin(), seen.end(), s.digest()), 0) << seen.size();
    seen.push_back(s.digest());
  }
}

TEST(Submission, CutEncodingsAreRefusedWithTheirPlace) {
  const std::string encoded = encode_submission(example());
  for (size_t size = 0; size < encoded.size(); ++size) {
    const Result<Submission> cut = decode_submission(std::string_view(encoded).substr(0, size));
    ASSERT_FALSE(cut.ok()) << size;
    EXPECT_EQ(cut.error().error_class, ErrorClass::kCorrupt);
    EXPECT_FALSE(cut.error().field.empty());
    EXPECT_LE(*cut.error().offset, size);
  }
  EXPECT_FALSE(decode_submission(encoded + '\0').ok());
}

TEST(Submission, ChangedEncodingsAreRefusedOrOtherSubmissions) {
  const std::string encoded = encode_submission(example());
  for (size_t at = 0; at < encoded.size(); ++at) {
    for (const int change : {1, 0x80, 0xff}) {
      std::string changed = encoded;
      changed[at] = static_cast<char>(changed[at] ^ change);
      const Result<Submission> decoded = decode_submission(changed);
      if (decoded.ok()) {
        EXPECT_EQ(encode_submission(*decoded), changed) << at;
      } else {
        EXPECT_TRUE(decoded.error().error_class == ErrorClass::kCorrupt || at == 7) << at;
      }
    }
  }
}

TEST(Submission, ANewerVersionIsNotDamage) {
  std::string encoded = encode_submission(example());
  encoded[7] = 2;
  const Result<Submission> newer = decode_submission(encoded);
  ASSERT_FALSE(newer.ok());
  EXPECT_EQ(newer.error().error_class, ErrorClass::kUnsupported);
  EXPECT_EQ(newer.error().field, "version");
}

// Numbers that promise more than there is must not be believed.
TEST(Submission, HugeLengthsAreRefusedBeforeAllocation) {
  const std::string encoded = encode_submission(Submission{});
  // The last number is that of the proofs; the one before is vanilla_proof's length.
  for (const size_t from_end : {8, 16}) {
    for (const uint64_t huge : {uint64_t{1}, uint64_t{1} << 40, ~uint64_t{0}, ~uint64_t{0} / 8 + 1}) {
      std::string changed = encoded;
      for (int i = 0; i < 8; ++i) changed[changed.size() - from_end + i] = static_cast<char>(huge >> (8 * i));
      EXPECT_FALSE(decode_submission(changed).ok()) << from_end << " " << huge;
    }
  }
}

TEST(Submission, BytesAreWhatItHolds) {
  Submission s;
  const uint64_t empty = s.bytes();
  EXPECT_GE(empty, sizeof(Submission));
  s.vanilla_proof.assign(1'000'000, 'x');
  EXPECT_GE(s.bytes(), empty + 1'000'000 - 16);
  EXPECT_LT(s.bytes(), empty + 1'010'000);
  // Empty proofs cost memory too: their number must count.
  const uint64_t before = s.bytes();
  s.vanilla_proofs.resize(100'000);
  EXPECT_GE(s.bytes(), before + 100'000 * sizeof(std::string));
}

TEST(Submission, PriorityDefaultsByKind) {
  Submission s;
  s.kind = ProofKind::kWinning;
  EXPECT_EQ(s.effective_priority(), Priority::kCritical);
  s.kind = ProofKind::kWindow;
  EXPECT_EQ(s.effective_priority(), Priority::kHigh);
  s.kind = ProofKind::kPorep;
  EXPECT_EQ(s.effective_priority(), Priority::kNormal);
  s.kind = ProofKind::kSnap;
  EXPECT_EQ(s.effective_priority(), Priority::kNormal);
  s.priority = Priority::kLow;
  EXPECT_EQ(s.effective_priority(), Priority::kLow);
}

TEST(JobId, UuidsHaveTheirFormAndDiffer) {
  std::vector<std::string> seen;
  for (int i = 0; i < 200; ++i) {
    const Result<std::string> uuid = random_uuid();
    ASSERT_TRUE(uuid.ok());
    ASSERT_EQ(uuid->size(), 36u);
    for (size_t at = 0; at < uuid->size(); ++at) {
      const bool dash = at == 8 || at == 13 || at == 18 || at == 23;
      EXPECT_TRUE(dash ? (*uuid)[at] == '-' : std::isxdigit(static_cast<unsigned char>((*uuid)[at])) != 0) << *uuid;
    }
    EXPECT_EQ((*uuid)[14], '4');
    EXPECT_NE(std::string("89ab").find((*uuid)[19]), std::string::npos) << *uuid;
    EXPECT_EQ(std::count(seen.begin(), seen.end(), *uuid), 0);
    seen.push_back(*uuid);
  }
}

}  // namespace
}  // namespace cuzk
