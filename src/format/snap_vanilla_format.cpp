#include "format/snap_vanilla_format.hpp"

#include <algorithm>
#include <string>

#include "base/assert.hpp"
#include "base/element_errors.hpp"
#include "format/bincode.hpp"

namespace cuzk {
namespace {

TreeShape tree_of(const SnapShape& shape, SnapProof proof) {
  if (proof != SnapProof::kDNew) return shape.tree;
  return {shape.log2_nodes(), 2, shape.log2_nodes(), 0, 0};
}

Error invalid(const char* field, std::string message) {
  return Error(ErrorClass::kInvalidInput, std::move(message)).at_field(field);
}

Result<Fr> read_commitment(const char* field, std::span<const uint8_t> bytes) {
  if (bytes.size() != kNodeBytes) {
    return invalid(field, "has " + std::to_string(bytes.size()) + " bytes, needs 32");
  }
  const std::optional<Fr> element = Fr::from_bytes_le(bytes);
  if (!element) return invalid(field, "is not a canonical field element");
  if (element->is_zero()) return invalid(field, "is zero");
  return *element;
}

bool read_partition(BincodeReader& reader, const FieldPath& path, const SnapShape& shape, SnapPartition& out) {
  if (!reader.fr(path.at("comm_c"), out.comm_c)) return false;
  const FieldPath apex = path.at("apex_leafs");
  if (!reader.length(apex, shape.apex_leaves(), "nodes")) return false;
  for (uint32_t i = 0; i < shape.apex_leaves(); ++i) {
    if (!reader.fr(apex.at(i), out.apex_leaves[i])) return false;
  }
  const FieldPath proofs = path.at("challenge_proofs");
  if (!reader.length(proofs, shape.challenges, "challenges")) return false;
  for (uint32_t i = 0; i < shape.challenges; ++i) {
    const FieldPath challenge = proofs.at(i);
    for (const SnapProof proof : kSnapProofs) {
      if (!read_merkle_proof(reader, challenge.at(snap_proof_name(proof)), tree_of(shape, proof), out.values(i, proof),
                             out.leaf_index(i, proof))) {
        return false;
      }
    }
  }
  return reader.end(path);
}

Result<SnapInput> read_statement(const SnapShape& shape, const SnapRequest& request) {
  if (request.sector_bytes != 0 && request.sector_bytes != shape.sector_bytes()) {
    return invalid("sector_size", "is " + std::to_string(request.sector_bytes) + ", but the registered proof is for " +
                                      std::to_string(shape.sector_bytes()) + " bytes");
  }
  SnapInput out;
  out.shape = &shape;
  out.h = shape.default_h();
  out.sector_number = request.sector_number;
  CUZK_ASSIGN(out.commitments.comm_r_old, read_commitment("comm_r_old", request.comm_r_old));
  CUZK_ASSIGN(out.commitments.comm_d_new, read_commitment("comm_d_new", request.comm_d_new));
  CUZK_ASSIGN(out.commitments.comm_r_new, read_commitment("comm_r_new", request.comm_r_new));
  return out;
}

Result<SnapInput> read_request(const SnapShape& shape, const SnapRequest& request) {
  CUZK_ASSIGN(SnapInput out, read_statement(shape, request));
  if (request.vanilla_proofs.size() != shape.partitions()) {
    return invalid("vanilla_proofs", "has " + std::to_string(request.vanilla_proofs.size()) + " partitions, needs " +
                                         std::to_string(shape.partitions()));
  }
  out.partitions.reserve(shape.partitions());
  ElementErrors errors;
  for (uint32_t k = 0; k < shape.partitions(); ++k) {
    Result<SnapPartition> partition = read_snap_partition(shape, k, request.vanilla_proofs[k]);
    if (!partition.ok()) {
      errors.add(k, 0, std::move(partition).error());
    } else if (errors.empty()) {
      out.partitions.push_back(std::move(partition).value());
    }
  }
  if (!errors.empty()) return errors.take([](size_t k) { return "partition " + std::to_string(k); });
  return out;
}

Result<SnapInput> of_sector(Result<SnapInput> result, std::optional<uint64_t> sector_number) {
  if (!result.ok()) result.error().sector = sector_number;
  return result;
}

Result<const SnapShape*> shape_of(const SnapRequest& request) {
  const auto proofs = registered_update_proofs();
  if (request.registered_proof < proofs.size()) return proofs[request.registered_proof].shape;
  Error error =
      invalid("registered_proof", std::to_string(request.registered_proof) + " is no registered update proof (0 to 4)");
  error.sector = request.sector_number;
  return error;
}

}  // namespace

Result<SnapInput> read_snap_request(const SnapShape& shape, const SnapRequest& request) {
  return of_sector(read_request(shape, request), request.sector_number);
}

Result<SnapInput> read_snap_request(const SnapRequest& request) {
  CUZK_ASSIGN(const SnapShape* shape, shape_of(request));
  return read_snap_request(*shape, request);
}

Result<SnapInput> read_snap_statement(const SnapRequest& request) {
  CUZK_ASSIGN(const SnapShape* shape, shape_of(request));
  return of_sector(read_statement(*shape, request), request.sector_number);
}

Result<SnapPartition> read_snap_partition(const SnapShape& shape, uint32_t k, std::span<const uint8_t> bytes) {
  const FieldPath root, list = root.at("vanilla_proofs");
  SnapPartition out(shape);
  BincodeReader reader(bytes);
  if (read_partition(reader, list.at(k), shape, out)) return out;
  Error error = reader.error();
  error.partition = k;
  return error;
}

size_t snap_partition_bytes(const SnapShape& shape) {
  size_t challenge = 0;
  for (const SnapProof proof : kSnapProofs) challenge += merkle_proof_bytes(tree_of(shape, proof));
  return kNodeBytes + 8 + size_t{shape.apex_leaves()} * kNodeBytes + 8 + shape.challenges * challenge;
}

std::vector<uint8_t> write_snap_partition(const SnapShape& shape, const SnapPartition& partition) {
  CUZK_ASSERT(partition.apex_leaves.size() == shape.apex_leaves() && partition.challenges() == shape.challenges);
  std::vector<uint8_t> out;
  out.reserve(snap_partition_bytes(shape));
  write_bincode_fr(out, partition.comm_c);
  write_bincode_u64(out, shape.apex_leaves());
  for (const Fr& leaf : partition.apex_leaves) write_bincode_fr(out, leaf);
  write_bincode_u64(out, shape.challenges);
  for (uint32_t i = 0; i < shape.challenges; ++i) {
    for (const SnapProof proof : kSnapProofs) {
      write_merkle_proof(out, tree_of(shape, proof), partition.opening(i, proof));
    }
  }
  return out;
}

}  // namespace cuzk
