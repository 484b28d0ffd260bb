// Values from upstream: storage-proofs-porep's LayerChallenges and SynthChallengeGenerator.
#include "filecoin/porep_challenges.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "field/fr.hpp"

namespace cuzk {
namespace {

struct ChallengeSample {
  PorepFeature feature;
  uint64_t nodes;
  uint32_t partition;
  std::vector<uint64_t> challenges;
};

const ChallengeSample kSamples[] = {
    {PorepFeature::kNone, 64, 0, {36, 54, 7, 28, 13, 30, 15, 15, 35, 58, 30, 56, 24, 45, 20, 45, 34, 15}},
    {PorepFeature::kNone, 64, 9, {34, 49, 58, 40, 16, 14, 50, 31, 13, 13, 4, 50, 61, 52, 10, 26, 20, 7}},
    {PorepFeature::kSynthetic, 64, 0, {10, 19, 2, 19, 52, 52, 44, 5, 43, 44, 56, 47, 40, 12, 28, 19, 56, 52}},
    {PorepFeature::kSynthetic, 64, 9, {50, 30, 30, 50, 63, 5, 47, 59, 37, 13, 2, 60, 57, 2, 48, 25, 8, 44}},
    {PorepFeature::kNonInteractive, 64, 0, {20, 5, 21, 12, 58, 17, 42, 32, 6, 41, 54, 36, 32, 42, 30, 54, 36, 15}},
    {PorepFeature::kNonInteractive, 64, 9, {54, 23, 27, 34, 60, 1, 54, 49, 27, 4, 7, 28, 54, 23, 10, 36, 11, 32}},
    {PorepFeature::kNone,
     1073741824,
     0,
     {578006451, 233767224, 527517844, 659776159, 166998397, 1005772602, 313517184, 146868828, 658857752, 208635709,
      862974534, 207784829, 76559640, 881783892, 576624026, 615914946, 412657783, 170718738}},
    {PorepFeature::kNone,
     1073741824,
     9,
     {308443813, 674935807, 347159416, 570817588, 883015135, 400934786, 873697532, 165430408, 959753227, 734446201,
      31923175, 671947340, 774400534, 148791562, 574284385, 373624802, 120142343, 1037104873}},
    {PorepFeature::kSynthetic,
     1073741824,
     0,
     {3762750, 1005240545, 1005959728, 770082263, 1008391318, 43290838, 673787862, 451987102, 1041123245, 510571760,
      904258124, 700180130, 619510828, 655823131, 416075039, 786189551, 467721902, 415526659}},
    {PorepFeature::kSynthetic,
     1073741824,
     9,
     {1010608941, 437036237, 601271567, 1032165066, 941519029, 572971012, 102254603, 644155871, 778688420, 948242092,
      385861797, 253782110, 355930006, 347699097, 350608847, 247159879, 279123077, 952386381}},
    {PorepFeature::kNonInteractive,
     1073741824,
     0,
     {37871399, 401485964, 300729639, 37585560, 703810606, 456974675, 702539313, 1068148463, 782415906, 269033225,
      403690761, 50164542, 355474130, 371700861, 169156101, 712558341, 742178844, 214021158}},
    {PorepFeature::kNonInteractive,
     1073741824,
     9,
     {175510242, 1068193751, 477854145, 272544901, 1003737795, 408905785, 983795454, 879968047, 687982014, 569697412,
      934324279, 413946820, 640004517, 105713204, 923436937, 156938958, 295082750, 59771408}},
};

PorepChallengeSource source_of(PorepFeature feature, uint64_t nodes) {
  PorepChallengeSource source{feature, nodes, Fr::from_u64(55).to_bytes_le(), Fr::from_u64(101).to_bytes_le(), {}};
  source.seed.fill(1);
  return source;
}

TEST(PorepChallenges, MatchUpstream) {
  for (const ChallengeSample& s : kSamples) {
    EXPECT_EQ(porep_challenges(source_of(s.feature, s.nodes), s.partition, 18), s.challenges)
        << static_cast<int>(s.feature) << " nodes " << s.nodes << " partition " << s.partition;
  }
}

TEST(PorepChallenges, SyntheticSetMatchesUpstream) {
  const PorepChallengeSource source = source_of(PorepFeature::kSynthetic, 1024);
  const std::vector<uint64_t> set = {178, 297, 869, 211, 875, 477, 94,  781, 124, 332, 856,
                                     801, 176, 692, 429, 691, 290, 204, 986, 210, 973};
  EXPECT_EQ(porep_synthetic_set(source, 0, 21), set);
  const std::vector<uint64_t> chosen = {176, 781, 801, 986, 290, 211, 692, 856, 986, 332};
  EXPECT_EQ(porep_synthetic_challenges(source, 21, 0, 10), chosen);
  // Any part of the set can be had without what is before it.
  EXPECT_EQ(porep_synthetic_set(source, 5, 3), std::vector<uint64_t>(set.begin() + 5, set.begin() + 8));
  EXPECT_EQ(porep_synthetic_challenges(source, 21, 4, 3),
            std::vector<uint64_t>(chosen.begin() + 4, chosen.begin() + 7));
}

TEST(PorepChallenges, SyntheticAreMembersOfTheSet) {
  const PorepChallengeSource source = source_of(PorepFeature::kSynthetic, 64);
  const std::vector<uint64_t> set = porep_synthetic_set(source, 0, 64);
  for (uint32_t k = 0; k < 10; ++k) {
    for (const uint64_t c : porep_challenges(source, k, 18)) {
      EXPECT_NE(std::find(set.begin(), set.end(), c), set.end());
    }
  }
}

// Partitions share one numbering: two of 18 are one of 36.
TEST(PorepChallenges, PartitionsContinue) {
  for (const auto feature : {PorepFeature::kNone, PorepFeature::kSynthetic, PorepFeature::kNonInteractive}) {
    const PorepChallengeSource source = source_of(feature, 1 << 18);
    std::vector<uint64_t> both = porep_challenges(source, 0, 18);
    const std::vector<uint64_t> second = porep_challenges(source, 1, 18);
    both.insert(both.end(), second.begin(), second.end());
    EXPECT_EQ(porep_challenges(source, 0, 36), both);
  }
}

// What must not matter does not, and what must does.
TEST(PorepChallenges, DependOnTheirSourceAlone) {
  for (const auto feature : {PorepFeature::kNone, PorepFeature::kSynthetic, PorepFeature::kNonInteractive}) {
    const PorepChallengeSource source = source_of(feature, 1 << 18);
    const auto challenges = porep_challenges(source, 0, 18);
    PorepChallengeSource other = source;
    other.seed[0] ^= 1;
    EXPECT_EQ(porep_challenges(other, 0, 18) == challenges, feature == PorepFeature::kNonInteractive);
    other = source;
    other.comm_r[0] ^= 1;
    EXPECT_EQ(porep_challenges(other, 0, 18) == challenges, feature == PorepFeature::kNone);
    other = source;
    other.replica_id[0] ^= 1;
    EXPECT_NE(porep_challenges(other, 0, 18), challenges);
  }
}

TEST(PorepChallenges, NeverNodeZeroAndAlwaysInside) {
  for (const auto feature : {PorepFeature::kNone, PorepFeature::kSynthetic, PorepFeature::kNonInteractive}) {
    std::vector<bool> seen(8);
    for (const uint64_t c : porep_challenges(source_of(feature, 8), 0, 500)) {
      ASSERT_GE(c, 1u);
      ASSERT_LT(c, 8u);
      seen[c] = true;
    }
    // A synthetic set of 8 need not hold every node.
    if (feature != PorepFeature::kSynthetic) {
      EXPECT_EQ(std::count(seen.begin(), seen.end(), true), 7);
    }
  }
}

}  // namespace
}  // namespace cuzk
