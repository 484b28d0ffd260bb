#include "format/post_vanilla_format.hpp"

#include <string>
#include <utility>

#include "base/assert.hpp"
#include "base/element_errors.hpp"
#include "format/bincode.hpp"
#include "parallel/parallel.hpp"

namespace cuzk {
namespace {

Error invalid(const char* field, std::string message) {
  return Error(ErrorClass::kInvalidInput, std::move(message)).at_field(field);
}

// `has_sector_id` says whether out.sector(i).sector_id is set, for an error.
bool read_sector_proof(BincodeReader& reader, const FieldPath& path, uint32_t i, PostVanilla& out,
                       bool& has_sector_id) {
  PostSector& sector = out.sector(i);
  if (!reader.u64(path.at("sector_id"), sector.sector_id)) return false;
  has_sector_id = true;
  if (!reader.fr(path.at("comm_r"), sector.comm_r)) return false;
  const FieldPath proof = path.at("vanilla_proof"), list = proof.at("sectors");
  if (!reader.length(list, 1, "sectors")) return false;
  const FieldPath inner = list.at(size_t{0}), paths = inner.at("inclusion_proofs");
  const uint32_t count = out.shape().paths_per_sector();
  if (!reader.length(paths, count, "openings")) return false;
  for (uint32_t n = 0; n < count; ++n) {
    if (!read_merkle_proof(reader, paths.at(n), out.shape().tree, out.path_values(i, n), out.leaf_index(i, n))) {
      return false;
    }
  }
  return reader.fr(inner.at("comm_c"), sector.comm_c) && reader.fr(inner.at("comm_r_last"), sector.comm_r_last) &&
         reader.end(path);
}

}  // namespace

Result<PostInput> read_post_request(const PostVanillaRequest& request) {
  CUZK_ASSIGN(PostRequest head,
              make_post_request(request.registered_proof, request.randomness, request.partition_index));
  const PostShape& shape = *head.shape;
  if (request.sector_bytes != 0 && request.sector_bytes != shape.sector_bytes()) {
    return invalid("sector_size", "is " + std::to_string(request.sector_bytes) + ", but the registered proof is for " +
                                      std::to_string(shape.sector_bytes()) + " bytes");
  }
  CUZK_ASSIGN(PostVanilla vanilla, read_post_vanilla(shape, request.vanilla_proofs));
  return PostInput{head, std::move(vanilla)};
}

Result<PostVanilla> read_post_vanilla(const PostShape& shape, std::span<const std::span<const uint8_t>> blobs) {
  if (blobs.empty() || blobs.size() > shape.max_real_sectors()) {
    const std::string most = std::to_string(shape.max_real_sectors());
    return invalid("vanilla_proofs", "has " + std::to_string(blobs.size()) + " sectors, needs " +
                                         (shape.max_real_sectors() == 1 ? most : "1 to " + most));
  }
  PostVanilla out(shape, static_cast<uint32_t>(blobs.size()));
  const FieldPath root, list = root.at("vanilla_proofs");
  ElementErrors errors;
  parallel_for(blobs.size(), 8, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      BincodeReader reader(blobs[i]);
      bool has_sector_id = false;
      const uint32_t position = static_cast<uint32_t>(i);
      if (read_sector_proof(reader, list.at(i), position, out, has_sector_id)) continue;
      Error error = reader.error();
      if (has_sector_id) error.sector = out.sector(position).sector_id;
      errors.add(i, 0, std::move(error));
    }
  });
  if (!errors.empty()) return errors.take([&](size_t i) { return list.at(i).text(); });
  return out;
}

size_t post_sector_proof_bytes(const PostShape& shape) {
  return 8 + 32 + 8 + 8 + shape.paths_per_sector() * merkle_proof_bytes(shape.tree) + 64;
}

std::vector<uint8_t> write_post_sector_proof(const PostVanilla& vanilla, uint32_t i) {
  CUZK_ASSERT(i < vanilla.sectors());
  const PostShape& shape = vanilla.shape();
  const PostSector& sector = vanilla.sector(i);
  std::vector<uint8_t> out;
  out.reserve(post_sector_proof_bytes(shape));
  write_bincode_u64(out, sector.sector_id);
  write_bincode_fr(out, sector.comm_r);
  write_bincode_u64(out, 1);
  write_bincode_u64(out, shape.paths_per_sector());
  for (uint32_t n = 0; n < shape.paths_per_sector(); ++n) write_merkle_proof(out, shape.tree, vanilla.path(i, n));
  write_bincode_fr(out, sector.comm_c);
  write_bincode_fr(out, sector.comm_r_last);
  return out;
}

}  // namespace cuzk
