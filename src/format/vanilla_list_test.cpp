#include "format/vanilla_list.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "format/base64.hpp"

namespace cuzk {
namespace {

Result<VanillaList> read(std::string_view text) {
  return read_vanilla_list(PaddedBuffer(std::span(reinterpret_cast<const uint8_t*>(text.data()), text.size())));
}

std::vector<std::string> proofs_of(std::string_view text) {
  const Result<VanillaList> list = read(text);
  EXPECT_TRUE(list.ok()) << list.error().describe();
  std::vector<std::string> out;
  for (const auto& view : list->views()) out.emplace_back(view.begin(), view.end());
  return out;
}

using Strings = std::vector<std::string>;

TEST(VanillaList, ArrayOfBase64) {
  EXPECT_EQ(proofs_of(R"(["Zm9v"])"), Strings{"foo"});
  EXPECT_EQ(proofs_of(R"(["Zm9v","Zm9vYg==","Zm9vYmE=",""])"), (Strings{"foo", "foob", "fooba", ""}));
  EXPECT_EQ(proofs_of("\n [ \"Zm9v\" ,\t\"\" ]\r\n"), (Strings{"foo", ""}));
  // Some writers escape the slash.
  EXPECT_EQ(proofs_of(R"(["\/\/8="])"), Strings{"\xff\xff"});
  EXPECT_EQ(proofs_of(R"(["//8="])"), Strings{"\xff\xff"});
}

TEST(VanillaList, AnythingElseIsOneProof) {
  const std::string zeros(100, '\0');
  EXPECT_EQ(proofs_of(zeros), Strings{zeros});
  // Sector 91, and sector 8795: their numbers begin as an array does.
  const std::string bracket = "[" + std::string(119, '\0'), quoted = "[\"" + std::string(118, '\0');
  EXPECT_EQ(proofs_of(bracket), Strings{bracket});
  EXPECT_EQ(proofs_of(quoted), Strings{quoted});
}

TEST(VanillaList, IsRefused) {
  struct Case {
    const char* text;
    const char* field;
    const char* message;
    int64_t offset;  // -1: not looked at
  };
  const Case kCases[] = {
      {"", "vanilla_proofs", "empty", -1},
      {"[]", "vanilla_proofs", "no proof", -1},
      {"{}", "vanilla_proofs", "not an array", -1},
      {"7", "vanilla_proofs", "not an array", -1},
      {"hello", "vanilla_proofs", "", -1},
      {R"("Zm9v")", "vanilla_proofs", "not an array", -1},
      {R"(["Zm9v")", "vanilla_proofs[1]", "", -1},
      {R"(["Zm9v",])", "vanilla_proofs[1]", "", -1},
      {R"(["Zm9v"]x)", "", "", -1},
      {R"(["Zm9v"]["Zm9v"])", "", "", -1},
      {R"([["Zm9v"]])", "vanilla_proofs[0]", "not a string", -1},
      {R"(["Zm9v",null])", "vanilla_proofs[1]", "not a string", -1},
      {R"(["Zm9v",7])", "vanilla_proofs[1]", "not a string", -1},
      {R"(["Zm9v","Zm9"])", "vanilla_proofs[1]", "multiple of 4", 12},
      {R"(["Zm9v","Zm9v","Zm!v"])", "vanilla_proofs[2]", "not a base64", 18},
      {R"(["Zm9v","Zm=v"])", "vanilla_proofs[1]", "padding", 11},
  };
  for (const Case& c : kCases) {
    const Result<VanillaList> list = read(c.text);
    ASSERT_FALSE(list.ok()) << c.text;
    EXPECT_EQ(list.error().error_class, ErrorClass::kInvalidInput) << c.text;
    EXPECT_EQ(list.error().field, c.field) << c.text << ": " << list.error().describe();
    EXPECT_NE(list.error().message.find(c.message), std::string::npos) << c.text << ": " << list.error().describe();
    if (c.offset >= 0) EXPECT_EQ(list.error().offset, static_cast<uint64_t>(c.offset)) << c.text;
  }
}

TEST(VanillaList, NumberOfProofs) {
  const auto of = [](size_t count) {
    std::string text = "[\"AA==\"";
    for (size_t i = 1; i < count; ++i) text += ",\"AA==\"";
    return text + "]";
  };
  EXPECT_EQ(proofs_of(of(kMaxVanillaProofs)).size(), kMaxVanillaProofs);
  EXPECT_EQ(read(of(kMaxVanillaProofs + 1)).error().field, "vanilla_proofs");
}

TEST(VanillaList, LimitFollowsFromTheBeginning) {
  using namespace std::string_view_literals;
  const auto limit = [](std::string_view head) {
    return max_vanilla_list_bytes({reinterpret_cast<const uint8_t*>(head.data()), head.size()});
  };
  for (const std::string_view list : {"[", " \t\r\n[\"AAAA\"]"}) EXPECT_EQ(limit(list), kMaxVanillaListBytes) << list;
  for (const std::string_view other : {""sv, "   "sv, "{}"sv, "x["sv, "[\0"sv}) {
    EXPECT_EQ(limit(other), uint64_t{1} << 20) << other;
  }
}

}  // namespace
}  // namespace cuzk
