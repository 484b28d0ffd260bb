// The file in which clients keep vanilla proofs: a JSON array of base64 texts, one a sector or partition, as Go writes
// [][]byte (snap-vproof.json of curio, what `cuzk bench gen-vanilla` writes); or the bytes of a single one, as they
// are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.hpp"
#include "format/padded_buffer.hpp"

namespace cuzk {

// The longest file that is read: a full window partition of 2349 sectors has 78 MB of base64.
inline constexpr uint64_t kMaxVanillaListBytes = uint64_t{512} << 20;
// The longest one that begins so: 1 MiB where that is no array; a single proof has 575,528 bytes at most.
uint64_t max_vanilla_list_bytes(std::span<const uint8_t> head);
// More proofs than any request has.
inline constexpr size_t kMaxVanillaProofs = 4096;

class VanillaList {
 public:
  // One a proof, in order; they live as long as this object.
  std::vector<std::span<const uint8_t>> views() const;

 private:
  friend Result<VanillaList> read_vanilla_list(PaddedBuffer document);
  std::vector<uint8_t> bytes_;
  std::vector<size_t> ends_;
};

// Which form it is follows from the first 64 bytes: text is JSON, everything else a single proof, which has zero bytes
// there (the count of its sectors or nodes). Guaranteed afterwards: 1 to kMaxVanillaProofs proofs. Errors:
// kInvalidInput with the field ("vanilla_proofs[3]") and the offset. 78 MB take 0.1 s.
Result<VanillaList> read_vanilla_list(PaddedBuffer document);

}  // namespace cuzk
