#include "format/commitment_cid.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/hex.hpp"

namespace cuzk {
namespace {

NodeBytes node(const std::string& hex) {
  NodeBytes out{};
  const auto bytes = from_hex(hex);
  std::copy(bytes->begin(), bytes->end(), out.begin());
  return out;
}

// Of a real sector; the second is the well-known piece commitment of 32 GiB of zeros.
const std::string kCommR = "bagboea4b5abcbx3jccdohrttzfneleehcpkmle4oltwuh4q3rcf5tpdodaoj6mtl";
const std::string kCommD = "baga6ea4seaqao7s73y24kcutaosvacpdjgfe5pw76ooefnyqw4ynr3d2y6x2mpq";
const NodeBytes kR = node("df691086e3c673c95a45908713d4c5938e5ced43f21b888bd9bc6e181c9f326b");
const NodeBytes kD = node("077e5fde35c50a9303a55009e3498a4ebedff39c42b710b730d8ec7ac7afa63e");

TEST(CommitmentCid, KnownPairs) {
  EXPECT_EQ(write_commitment_cid(CommitmentKind::kSealed, kR), kCommR);
  EXPECT_EQ(write_commitment_cid(CommitmentKind::kUnsealed, kD), kCommD);
  EXPECT_EQ(*read_commitment_cid(CommitmentKind::kSealed, kCommR), kR);
  EXPECT_EQ(*read_commitment_cid(CommitmentKind::kUnsealed, kCommD), kD);
}

// Every character matters: any other one is refused, or is another commitment.
TEST(CommitmentCid, OneTextForOneCommitment) {
  for (const auto& [kind, text, value] :
       {std::tuple(CommitmentKind::kSealed, kCommR, kR), std::tuple(CommitmentKind::kUnsealed, kCommD, kD)}) {
    for (size_t i = 0; i < text.size(); ++i) {
      for (const char c : std::string("abcxyz27190ABZ=-\n\xff", 17)) {
        if (c == text[i]) continue;
        std::string changed = text;
        changed[i] = c;
        const Result<NodeBytes> read = read_commitment_cid(kind, changed);
        if (read.ok()) {
          EXPECT_NE(*read, value) << changed;
          EXPECT_EQ(write_commitment_cid(kind, *read), changed);
        } else {
          EXPECT_EQ(read.error().error_class, ErrorClass::kInvalidInput);
          // The prefix is found wrong when its byte is whole.
          EXPECT_GE(read.error().offset.value(), i);
          EXPECT_LE(read.error().offset.value(), i + 2);
        }
      }
    }
  }
}

TEST(CommitmentCid, RefusesOtherKindsAndLengths) {
  EXPECT_FALSE(read_commitment_cid(CommitmentKind::kSealed, kCommD).ok());
  EXPECT_FALSE(read_commitment_cid(CommitmentKind::kUnsealed, kCommR).ok());
  for (const std::string& text : {std::string(), std::string("b"), kCommR + "a", kCommR.substr(0, kCommR.size() - 1)}) {
    EXPECT_FALSE(read_commitment_cid(CommitmentKind::kSealed, text).ok()) << text;
  }
  std::string upper = kCommR;
  std::transform(upper.begin() + 1, upper.end(), upper.begin() + 1, ::toupper);
  EXPECT_EQ(read_commitment_cid(CommitmentKind::kSealed, upper).error().offset, 1u);
}

TEST(CommDr, ReadsWhatIsWritten) {
  const std::string text = write_commdr({kD, kR});
  EXPECT_EQ(text, "d:" + kCommD + " r:" + kCommR + "\n");
  for (const std::string& form : {text, "  " + text + "\n", "d:" + kCommD + "\r\nr:" + kCommR}) {
    const Result<CommDr> read = read_commdr(form);
    ASSERT_TRUE(read.ok()) << read.error().describe();
    EXPECT_EQ(read->comm_d, kD);
    EXPECT_EQ(read->comm_r, kR);
  }
}

TEST(CommDr, NamesWhatIsWrong) {
  const struct {
    std::string text, field;
    size_t offset;
  } kCases[] = {{"", "d", 0},
                {"r:" + kCommR + " d:" + kCommD, "d", 0},
                {"d:" + kCommD, "r", 2 + kCommD.size()},
                {"d:" + kCommD + "r:" + kCommR, "d", 2 + kCommD.size()},
                {"d:" + kCommD + " r:" + kCommD, "r", 2 + kCommD.size() + 3 + kCommD.size()},
                {"d: " + kCommD + " r:" + kCommR, "d", 2},
                {"d:" + kCommD + " r:" + kCommR + " x", "", 2 + kCommD.size() + 3 + kCommR.size() + 1}};
  for (const auto& c : kCases) {
    const Result<CommDr> read = read_commdr(c.text);
    ASSERT_FALSE(read.ok()) << c.text;
    EXPECT_EQ(read.error().error_class, ErrorClass::kInvalidInput);
    EXPECT_EQ(read.error().field, c.field) << c.text;
    EXPECT_EQ(read.error().offset, c.offset) << c.text << ": " << read.error().describe();
  }
}

}  // namespace
}  // namespace cuzk
