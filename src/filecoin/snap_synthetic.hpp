// Valid sector updates of any size without a sector: the old replica and the new data are constant within each of some
// thousand blocks, so that whole trees can be hashed and any node opened. They pass the vanilla check and satisfy the
// circuit, so full-size proofs can be made and measured anywhere.
#pragma once

#include <cstdint>

#include "base/result.hpp"
#include "filecoin/snap_vanilla.hpp"

namespace cuzk {

struct SnapSyntheticInput {
  const SnapShape* shape = nullptr;  // not owned
  uint64_t sector_number = 42;
  NodeBytes randomness{};  // decides every value; equal inputs give equal outputs
  // Which partitions to open: the first so many; at most shape->partitions(), 0 for all of them.
  uint32_t partitions = 0;
};

// A true encoding of a whole (virtual) sector with the default h. Sparse trees would not do: the challenges depend on
// the new replica's root. 32 GiB: about 60,000 hashes of eight numbers, in parallel; 2 s on one core.
SnapInput make_synthetic_snap(const SnapSyntheticInput& input);

}  // namespace cuzk
