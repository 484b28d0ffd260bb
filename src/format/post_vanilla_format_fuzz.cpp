// Any bytes are read or refused, never worse. What is read is written back to the same bytes, and is fit for everything
// that follows: the vanilla check and the packed witness.
#include <algorithm>
#include <cstdlib>

#include "filecoin/post_circuit.hpp"
#include "format/post_vanilla_format.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace cuzk;
  if (size < 2) return 0;
  // The first byte says which shape, the second how many sectors the rest is divided among.
  const PostShape& shape = post_shapes()[data[0] % post_shapes().size()];
  const size_t sectors = data[1] % 4;
  std::vector<std::span<const uint8_t>> blobs;
  for (size_t i = 0; i < sectors; ++i) {
    const size_t begin = (size - 2) * i / sectors, end = (size - 2) * (i + 1) / sectors;
    blobs.emplace_back(data + 2 + begin, end - begin);
  }
  const Result<PostVanilla> vanilla = read_post_vanilla(shape, blobs);
  if (!vanilla.ok()) {
    const Error& error = vanilla.error();
    if (error.error_class != ErrorClass::kInvalidInput || error.message.empty() || error.field.empty()) std::abort();
    if (error.offset && *error.offset > size) std::abort();
    return 0;
  }
  for (uint32_t i = 0; i < sectors; ++i) {
    const std::vector<uint8_t> again = write_post_sector_proof(*vanilla, i);
    if (!std::equal(again.begin(), again.end(), blobs[i].begin(), blobs[i].end())) std::abort();
  }
  const PostRequest request{&shape, PostApiVersion::kV1_0_0, {}, 0};
  const Result<PostPathHashes> hashes = validate_post_vanilla(request, *vanilla);
  if (!hashes.ok() && hashes.error().error_class != ErrorClass::kInvalidInput) std::abort();
  // Full partitions are too large for a fuzzer.
  if (post_circuit_counts(shape, shape.sectors).fields < 100000) {
    const PackedWitness witness = post_witness(*vanilla);
    if (witness.fields.size() != post_circuit_counts(shape, shape.sectors).fields) std::abort();
    if (hashes.ok() && !(post_witness(*vanilla, *hashes) == witness)) std::abort();
  }
  return 0;
}
