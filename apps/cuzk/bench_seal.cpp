#include <algorithm>
#include <filesystem>

#include "base/hex.hpp"
#include "cuzk/bench_commands.hpp"
#include "cuzk/read_file.hpp"
#include "cuzk/vanilla_output.hpp"
#include "filecoin/free_values.hpp"
#include "filecoin/stored_tree.hpp"
#include "format/commitment_cid.hpp"
#include "format/fr32.hpp"
#include "format/porep_c1.hpp"
#include "format/sector_files.hpp"
#include "format/sector_write.hpp"

namespace cuzk::app {
namespace {

// Above that, a sector would not be made in memory in some seconds.
constexpr uint64_t kMaxSectorBytes = uint64_t{8} << 20;

struct SealOptions {
  std::string registered_proof;
  std::string folder;
  std::string data;
  std::string seed = std::string(64, '0');
  uint64_t miner_id = 1000;
  uint64_t sector = 1;
  std::string ticket, porep_seed;
  bool force = false;
};

template <class Shape>
Status check_size(const Shape& shape) {
  if (shape.sector_bytes() <= kMaxSectorBytes) return {};
  return Error(ErrorClass::kUnsupported,
               "sectors of " + std::string(shape.name) + " are not sealed here, only those of 2KiB and 8MiB");
}

// What --data has, or pseudo-random nodes.
Result<std::vector<NodeBytes>> read_data(const SealOptions& options, uint64_t nodes) {
  if (options.data.empty()) {
    CUZK_ASSIGN(const NodeBytes seed, parse_bytes32(options.seed, "--seed"));
    FreeValues free(seed);
    std::vector<NodeBytes> data(nodes);
    for (NodeBytes& node : data) node = free.next();
    return data;
  }
  CUZK_ASSIGN(const PaddedBuffer content, read_any_file(options.data, nodes * kNodeBytes));
  Result<std::vector<NodeBytes>> data = sector_data(content.bytes(), nodes);
  if (!data.ok()) data.error().file = options.data;
  return data;
}

// A sealed sector holds what nobody can make again; development or not, it is not replaced by mistake.
Status refuse_existing(const std::vector<std::string>& paths, bool force) {
  for (const std::string& path : paths) {
    std::error_code ignored;
    if (!force && std::filesystem::exists(path, ignored)) {
      return Error(ErrorClass::kUsage, "exists already; --force replaces it").in_file(path);
    }
  }
  return {};
}

Status write_text(const std::string& path, std::string_view text) {
  CUZK_ASSIGN(AtomicFile out, AtomicFile::create(path));
  CUZK_TRY(out.write({reinterpret_cast<const uint8_t*>(text.data()), text.size()}));
  return out.commit();
}

Result<PorepSealInput> parse_seal(const SealOptions& options) {
  PorepSealInput input;
  CUZK_ASSIGN(input.proof, parse_registered_proof(options.registered_proof, registered_seal_proofs(),
                                                  registered_seal_proof_by_name));
  CUZK_TRY(check_size(*input.proof->shape));
  input.prover_id = prover_id_of_miner(options.miner_id);
  input.sector_number = options.sector;
  CUZK_ASSIGN(const NodeBytes seed, parse_bytes32(options.seed, "--seed"));
  CUZK_ASSIGN(input.ticket, given_or_derived(options.ticket, "--ticket", "ticket", seed));
  CUZK_ASSIGN(input.seed, given_or_derived(options.porep_seed, "--porep-seed", "seed", seed));
  if (input.seed == NodeBytes{}) return Error(ErrorClass::kUsage, "--porep-seed must not be zero: provers refuse that");
  return input;
}

Outcome describe_sealed(const SealOptions& options, const PorepC1& c1, const SectorPaths& paths,
                        const std::string& c1_file, const std::string& commdr) {
  const RegisteredSealProof& proof = *c1.proof;
  const std::string sector = std::to_string(options.sector), miner = std::to_string(options.miner_id);
  ResultLines lines("sealed sector " + sector + " of miner " + miner + ", " + std::string(proof.name));
  lines.json() = {{"registered_proof", proof.number},
                  {"registered_proof_name", std::string(proof.name)},
                  {"miner_id", options.miner_id},
                  {"sector", options.sector}};
  lines.both("replica", "sealed", paths.replica).both("cache", "cache", paths.cache);
  lines.both("C1 JSON", "c1", c1_file).both("commitments", "commdr", commdr);
  lines.both("comm_d", "comm_d", fr_hex(c1.comm_d)).both("comm_r", "comm_r", fr_hex(c1.comm_r));
  lines.both("replica id", "replica_id", fr_hex(c1.replica_id));
  lines.both("ticket", "ticket", to_hex(c1.ticket)).both("porep seed", "porep_seed", to_hex(c1.seed));
  ShellLine prove("cuzk prove --kind porep");
  prove.add("--c1", c1_file).add("--sector-num", sector).add("--miner-id", miner).add("--out", "porep-proof.bin");
  lines.both("prove it with", "prove_command", prove.text());
  return lines.take();
}

Result<Outcome> run_seal(const SealOptions& options, Console& console) {
  CUZK_ASSIGN(PorepSealInput input, parse_seal(options));
  const PorepShape& shape = *input.proof->shape;
  const SectorPaths paths = sealed_paths(options.folder, options.miner_id, options.sector);
  const std::string c1_file = options.folder + "/c1.json", commdr = options.folder + "/commdr.txt";
  CUZK_TRY(refuse_existing({paths.replica, paths.cache, c1_file, commdr}, options.force));
  CUZK_ASSIGN(const std::vector<NodeBytes> data, read_data(options, shape.nodes()));
  input.data = data;
  console.progress().begin_stage("sealing", 0, "");
  Result<PorepSealed> sealed = seal_porep(input);
  console.progress().end_stage();
  if (!sealed.ok()) return std::move(sealed).error();
  const ScopedStage stage(console.progress(), "writing");
  CUZK_TRY(write_sealed_sector(*sealed, paths));
  const std::string inner = write_porep_c1_inner(sealed->c1);
  CUZK_TRY(write_text(c1_file, write_porep_c1_wrapper({reinterpret_cast<const uint8_t*>(inner.data()), inner.size()},
                                                      options.sector, shape.sector_bytes())));
  CUZK_TRY(write_text(commdr, write_commdr({sealed->c1.comm_d.to_bytes_le(), sealed->c1.comm_r.to_bytes_le()})));
  return describe_sealed(options, sealed->c1, paths, c1_file, commdr);
}

// The sealed sector that is updated.
struct OldSector {
  PAux p_aux;
  uint32_t layers = 0;
  std::vector<Fr> replica;
};

Result<OldSector> read_old_sector(const SnapShape& shape, const SectorPaths& paths) {
  OldSector out;
  CUZK_ASSIGN(out.p_aux, read_p_aux_file(paths.cache));
  CUZK_ASSIGN(const std::optional<TAux> t_aux, read_t_aux_file(paths.cache));
  out.layers =
      t_aux ? static_cast<uint32_t>(t_aux->labels.size()) : porep_shape_by_sector_bytes(shape.sector_bytes())->layers;
  CUZK_ASSIGN(const RandomAccessFile file, RandomAccessFile::open(paths.replica));
  if (file.size() != shape.sector_bytes()) {
    return Error(ErrorClass::kCorrupt, "has " + std::to_string(file.size()) +
                                           " bytes, a replica of this sector size has " +
                                           std::to_string(shape.sector_bytes()))
        .in_file(paths.replica);
  }
  std::vector<uint8_t> bytes(file.size());
  CUZK_TRY(file.read_at(0, bytes));
  for (uint64_t v = 0; v < shape.nodes(); ++v) {
    const auto node = Fr::from_bytes_le(std::span<const uint8_t>(&bytes[v * kNodeBytes], kNodeBytes));
    if (!node) {
      return Error(ErrorClass::kCorrupt, "this node is not a canonical field element")
          .in_file(paths.replica)
          .at_offset(v * kNodeBytes);
    }
    out.replica.push_back(*node);
  }
  return out;
}

Outcome describe_updated(const SealOptions& options, const RegisteredUpdateProof& proof, const SnapUpdated& updated,
                         const SectorPaths& old_paths, const SectorPaths& paths, const std::string& commdr) {
  const std::string sector = std::to_string(options.sector), miner = std::to_string(options.miner_id);
  ResultLines lines("updated sector " + sector + " of miner " + miner + ", " + std::string(proof.name));
  lines.json() = {{"registered_proof", proof.number},
                  {"registered_proof_name", std::string(proof.name)},
                  {"miner_id", options.miner_id},
                  {"sector", options.sector}};
  lines.both("new replica", "replica", paths.replica).both("its cache", "replica_cache", paths.cache);
  lines.both("commitments", "commdr", commdr);
  lines.both("comm_r_old", "comm_r_old", fr_hex(updated.commitments.comm_r_old));
  lines.both("comm_r_new", "comm_r_new", fr_hex(updated.commitments.comm_r_new));
  lines.both("comm_d_new", "comm_d_new", fr_hex(updated.commitments.comm_d_new));
  ShellLine next("cuzk bench gen-vanilla snap-prove");
  next.add("--registered-proof", std::to_string(proof.number)).add("--sector-number", sector).add("--miner-id", miner);
  next.add("--orig-commdr", options.folder + "/commdr.txt").add("--update-commdr", commdr);
  next.add("--sector-key", old_paths.replica).add("--sector-key-cache", old_paths.cache);
  next.add("--replica", paths.replica).add("--replica-cache", paths.cache);
  lines.both("vanilla proof", "vanilla_command", next.text());
  return lines.take();
}

Result<Outcome> run_update(const SealOptions& options, Console& console) {
  CUZK_ASSIGN(
      const RegisteredUpdateProof* proof,
      parse_registered_proof(options.registered_proof, registered_update_proofs(), registered_update_proof_by_name));
  const SnapShape& shape = *proof->shape;
  CUZK_TRY(check_size(shape));
  const SectorPaths old_paths = sealed_paths(options.folder, options.miner_id, options.sector);
  const SectorPaths paths = updated_paths(options.folder, options.miner_id, options.sector);
  const std::string commdr = options.folder + "/update-commdr.txt";
  CUZK_TRY(refuse_existing({paths.replica, paths.cache, commdr}, options.force));
  console.hint(ErrorClass::kNotFound, "`cuzk bench seal --out " + options.folder + "` makes the sector to update");
  CUZK_ASSIGN(const OldSector old, read_old_sector(shape, old_paths));
  CUZK_ASSIGN(const std::vector<NodeBytes> data, read_data(options, shape.nodes()));
  console.progress().begin_stage("updating", 0, "");
  Result<SnapUpdated> updated = update_snap(
      {.shape = &shape, .h = shape.default_h(), .comm_c = old.p_aux.comm_c, .old_replica = old.replica, .data = data});
  console.progress().end_stage();
  if (!updated.ok()) return std::move(updated).error();
  if (updated->tree_r_old.root() != old.p_aux.comm_r_last) {
    return Error(ErrorClass::kCorrupt, "the root of its tree is not p_aux's comm_r_last").in_file(old_paths.replica);
  }
  const ScopedStage stage(console.progress(), "writing");
  CUZK_TRY(write_updated_sector(*updated, old.layers, paths));
  CUZK_TRY(write_text(commdr, write_commdr({updated->commitments.comm_d_new.to_bytes_le(),
                                            updated->commitments.comm_r_new.to_bytes_le()})));
  return describe_updated(options, *proof, *updated, old_paths, paths, commdr);
}

void add_common(CLI::App* command, SealOptions& options) {
  command->add_option("--miner-id", options.miner_id, "Miner's actor id")->check(decimal_error)->capture_default_str();
  command->add_option("--sector-number", options.sector, "Sector number")->check(decimal_error)->capture_default_str();
  CLI::Option* data = command->add_option(
      "--data", options.data, "Data, to be fr32-padded unless it is as long as the sector; zeros follow it");
  command->add_option("--seed", options.seed, "Decides the data: 32 bytes as hexadecimal digits; default: zeros")
      ->excludes(data);
  command->add_flag("--force", options.force, "Replaces files that exist");
}

}  // namespace

void add_seal_commands(CommandLine& line, CLI::App* group) {
  const auto seal = std::make_shared<SealOptions>();
  seal->registered_proof = "5";
  CLI::App* command = line.add(group, "seal", "Seals a small sector for development: replica, cache, C1 JSON",
                               "  cuzk bench seal --registered-proof 5 --out DIR --data FILE\n"
                               "  cuzk bench seal --registered-proof 6 --out DIR --json\n",
                               [seal](Console& console) { return run_seal(*seal, console); });
  command->add_option("--registered-proof", seal->registered_proof, "Number or name, of a size up to 8 MiB")
      ->capture_default_str();
  command->add_option("--out", seal->folder, "Storage folder: sealed/, cache/, c1.json and commdr.txt come there")
      ->required();
  add_common(command, *seal);
  command->add_option("--ticket", seal->ticket, "32 bytes as hexadecimal digits; default: from --seed");
  command->add_option("--porep-seed", seal->porep_seed, "Interactive randomness, the same way");

  const auto update = std::make_shared<SealOptions>();
  update->registered_proof = "0";
  command = line.add(group, "seal-update", "Puts new data into a sector of `bench seal` (SnapDeals)",
                     "  cuzk bench seal-update --registered-proof 0 --dir DIR --data FILE\n",
                     [update](Console& console) { return run_update(*update, console); });
  command->add_option("--registered-proof", update->registered_proof, "Number or name, of a size up to 8 MiB")
      ->capture_default_str();
  command
      ->add_option("--dir", update->folder, "Storage folder; update/, update-cache/ and update-commdr.txt come there")
      ->required();
  add_common(command, *update);
}

}  // namespace cuzk::app
