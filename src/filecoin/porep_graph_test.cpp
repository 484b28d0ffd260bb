// Values from upstream: the parents of storage-proofs-porep's StackedBucketGraph for the porep id of each number.
#include "filecoin/porep_graph.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/hex.hpp"

namespace cuzk {
namespace {

struct ParentSample {
  uint32_t number;  // registered seal proof
  uint64_t nodes;
  uint64_t node;
  std::array<uint32_t, 6> base;
  std::array<uint32_t, 8> expander;
};

const ParentSample kSamples[] = {
    {0, 64, 0, {0, 0, 0, 0, 0, 0}, {22, 1, 6, 27, 40, 36, 18, 36}},
    {0, 64, 2, {0, 1, 1, 1, 1, 1}, {32, 49, 26, 57, 3, 4, 47, 63}},
    {0, 64, 10, {6, 9, 2, 5, 8, 9}, {44, 41, 23, 36, 14, 19, 4, 28}},
    {0, 64, 63, {62, 61, 56, 62, 37, 62}, {49, 37, 35, 41, 52, 50, 54, 5}},
    {5, 64, 0, {0, 0, 0, 0, 0, 0}, {4, 9, 60, 1, 14, 26, 26, 4}},
    {5, 64, 2, {1, 1, 1, 0, 1, 0}, {30, 28, 55, 63, 63, 36, 37, 36}},
    {5, 64, 10, {9, 6, 6, 9, 9, 5}, {30, 20, 60, 53, 31, 9, 47, 41}},
    {5, 64, 63, {62, 15, 42, 62, 61, 62}, {0, 15, 30, 30, 28, 42, 49, 38}},
    {10, 64, 0, {0, 0, 0, 0, 0, 0}, {8, 1, 36, 57, 21, 36, 43, 9}},
    {10, 64, 2, {1, 1, 1, 1, 1, 1}, {26, 33, 12, 40, 2, 60, 51, 22}},
    {10, 64, 10, {9, 8, 6, 9, 6, 0}, {52, 22, 49, 20, 53, 5, 27, 31}},
    {10, 64, 63, {62, 5, 20, 62, 50, 61}, {23, 10, 6, 38, 28, 0, 29, 3}},
    {3,
     1073741824,
     0,
     {0, 0, 0, 0, 0, 0},
     {193218719, 107884067, 84734002, 52940790, 506733982, 222475650, 192156281, 396327662}},
    {3,
     1073741824,
     2,
     {0, 0, 1, 0, 0, 1},
     {400853530, 328272173, 484523968, 337953528, 195912658, 380473339, 445606617, 401399919}},
    {3,
     1073741824,
     10,
     {9, 9, 9, 3, 9, 9},
     {22882766, 97700201, 365119433, 396584184, 484748330, 166165156, 323341201, 501065317}},
    {3,
     1073741824,
     63,
     {58, 62, 60, 58, 62, 62},
     {109491907, 137720688, 450305630, 171432773, 210510596, 485242564, 179797851, 203872962}},
    {3,
     1073741824,
     536870913,
     {536861054, 529946396, 531563247, 372695688, 536782480, 536870912},
     {328393179, 342698291, 366223815, 98282549, 509997231, 239795397, 286058309, 247437817}},
    {3,
     1073741824,
     1073741823,
     {1073717791, 1073729651, 356271464, 1073741667, 1073518238, 1073741822},
     {195269793, 55928625, 117716005, 370196974, 457529501, 256849605, 282938428, 400621728}},
    {8,
     1073741824,
     0,
     {0, 0, 0, 0, 0, 0},
     {1054240739, 227529229, 985834481, 197966932, 410367906, 165888503, 1030207780, 74357301}},
    {8,
     1073741824,
     2,
     {1, 1, 0, 1, 0, 0},
     {694934376, 792214855, 560882435, 923855168, 468160064, 444658509, 700174899, 650486437}},
    {8,
     1073741824,
     10,
     {9, 7, 6, 9, 9, 5},
     {675526628, 262882081, 905033640, 524969884, 814516830, 140558186, 574093502, 864394768}},
    {8,
     1073741824,
     63,
     {62, 60, 60, 62, 53, 62},
     {414204038, 214816601, 593678506, 711657587, 215376725, 476236469, 784567577, 3069823}},
    {8,
     1073741824,
     536870913,
     {536870912, 536337347, 536867956, 536870865, 455881909, 332250620},
     {248329423, 780172217, 258665894, 102214856, 921178314, 353621470, 993482892, 397786034}},
    {8,
     1073741824,
     1073741823,
     {1073741822, 1073258530, 440642413, 663190843, 1073741654, 1073741786},
     {307718517, 715446084, 558280128, 265147410, 110937796, 626719228, 201839602, 653041812}},
    {9,
     2147483648,
     0,
     {0, 0, 0, 0, 0, 0},
     {1268613700, 686564822, 768859065, 2079548895, 259564915, 326446952, 2082174048, 489891607}},
    {9,
     2147483648,
     2,
     {1, 1, 0, 1, 0, 0},
     {712831275, 1199298225, 376978799, 1694222890, 1893784888, 258014408, 1369861727, 1689646049}},
    {9,
     2147483648,
     10,
     {9, 9, 8, 9, 5, 9},
     {925466230, 1493024947, 636984486, 617116321, 635318813, 938754432, 2120068720, 317774510}},
    {9,
     2147483648,
     63,
     {62, 54, 61, 59, 19, 62},
     {953830366, 350987574, 1947889725, 1301377481, 270474173, 1101123862, 2070202330, 2098267232}},
    {9,
     2147483648,
     1073741825,
     {1073741824, 1073643399, 1073669227, 1070694900, 1073725618, 1073621994},
     {1551899149, 1119477883, 1588700463, 341998764, 770550311, 397532492, 826565609, 107511221}},
    {9,
     2147483648,
     2147483647,
     {2147483646, 2147483645, 2147473607, 2147483646, 2147483609, 1322413322},
     {319537050, 259923117, 180788485, 1838730986, 786079656, 319786570, 1561782586, 1183784015}},
};

TEST(PorepGraph, ParentsMatchUpstream) {
  for (const ParentSample& s : kSamples) {
    const RegisteredSealProof& proof = registered_seal_proofs()[s.number];
    ASSERT_EQ(proof.shape->nodes(), s.nodes);
    const PorepGraph graph(proof);
    EXPECT_EQ(graph.base_parents(s.node), s.base) << s.number << " node " << s.node;
    EXPECT_EQ(graph.expander_parents(s.node), s.expander) << s.number << " node " << s.node;
  }
}

TEST(PorepGraph, SeedsMatchUpstream) {
  const std::pair<uint32_t, const char*> kSeeds[] = {
      {0, "623f03efd4cbc4f029203ee913d026a4e2d9913025a8aed04fec97a0"},
      {5, "3be68542ec229705b99be29c2106b0e4222ccd1d0311398ea4d22d7d"},
      {10, "baa7c5bc698d37f9b3439bb88d3a051e69ffe3f8c268b340654e4556"},
      {3, "a674e44e91e0af2c0d2406b8f0437a0832819d7568d3f7fe2f665a92"},
      {8, "ba0350183955dc9f07e73503f5c63ff1bd9c22501363983de241f74a"},
      {9, "bab80f31f3694d562279ef610ca1f43e36050d6d7fad9613d62483b8"},
  };
  for (const auto& [number, seed] : kSeeds) {
    EXPECT_EQ(to_hex(PorepGraph(registered_seal_proofs()[number]).drg_seed()), seed) << number;
  }
}

// The expander is a permutation of 8 slots a node: as many children as parents, everywhere.
TEST(PorepGraph, ExpanderIsRegular) {
  for (const uint32_t number : {0u, 5u, 10u, 15u}) {
    const PorepGraph graph(registered_seal_proofs()[number]);
    std::array<int, 64> children{};
    for (uint64_t node = 0; node < 64; ++node) {
      for (const uint32_t parent : graph.expander_parents(node)) ++children.at(parent);
    }
    EXPECT_EQ(std::count(children.begin(), children.end(), 8), 64) << number;
  }
}

TEST(PorepGraph, BaseParentsComeBefore) {
  for (const uint32_t number : {0u, 5u}) {
    const PorepGraph graph(registered_seal_proofs()[number]);
    const size_t predecessor = number == 0 ? 5 : 0;
    for (uint64_t node = 2; node < 64; ++node) {
      const auto parents = graph.base_parents(node);
      for (const uint32_t parent : parents) EXPECT_LT(parent, node);
      EXPECT_EQ(parents[predecessor], node - 1);
    }
  }
}

// Ids that differ in one bit give another graph.
TEST(PorepGraph, DependsOnThePorepId) {
  NodeBytes id = registered_seal_proofs()[5].porep_id();
  const PorepGraph graph(id, PorepApiVersion::kV1_1_0, 64);
  id[31] ^= 1;
  const PorepGraph other(id, PorepApiVersion::kV1_1_0, 64);
  EXPECT_NE(graph.base_parents(63), other.base_parents(63));
  EXPECT_NE(graph.expander_parents(63), other.expander_parents(63));
}

}  // namespace
}  // namespace cuzk
