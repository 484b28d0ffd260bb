// Any bytes are read or refused, never worse. What is read is written back to the same bytes, and is fit for everything
// that follows: the vanilla check and the packed witness.
#include <cstdlib>

#include "filecoin/snap_prove.hpp"
#include "format/snap_vanilla_format.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace cuzk;
  if (size == 0) return 0;
  // The first byte says which shape.
  const SnapShape& shape = snap_shapes()[data[0] % snap_shapes().size()];
  const std::span<const uint8_t> bytes(data + 1, size - 1);
  Result<SnapPartition> partition = read_snap_partition(shape, 0, bytes);
  if (!partition.ok()) {
    const Error& error = partition.error();
    if (error.error_class != ErrorClass::kInvalidInput || error.message.empty() || error.field.empty()) std::abort();
    if (!error.offset || *error.offset > bytes.size() || error.partition != 0u) std::abort();
    return 0;
  }
  const std::vector<uint8_t> again = write_snap_partition(shape, *partition);
  if (again.size() != bytes.size() || !std::equal(again.begin(), again.end(), bytes.begin())) std::abort();
  SnapInput input;
  input.shape = &shape;
  input.h = shape.default_h();
  input.commitments = {Fr::from_u64(1), Fr::from_u64(2), Fr::from_u64(3)};
  input.partitions.push_back(std::move(partition).value());
  if (validate_snap_partition(input, 0).ok()) std::abort();  // these commitments belong to nothing
  if (shape.log2_nodes() < 9) {
    const PackedWitness witness = snap_witness(input, 0);
    if (witness.fields.size() != snap_circuit_counts(shape).fields) std::abort();
  }
  return 0;
}
