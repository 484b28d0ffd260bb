#include "base/hex.hpp"
#include "cuzk/bench_commands.hpp"
#include "cuzk/commitment_input.hpp"
#include "cuzk/vanilla_output.hpp"
#include "filecoin/snap_generate.hpp"
#include "filecoin/snap_synthetic.hpp"
#include "format/sector_files.hpp"
#include "format/snap_vanilla_format.hpp"

namespace cuzk::app {
namespace {

struct SnapOptions {
  std::string registered_proof = "3";
  uint64_t sector = 1;
  uint64_t miner_id = 1000;
  std::string out = "snap-vanilla.json";
  std::string orig_commdr, update_commdr;
  std::string sector_key, sector_key_cache, replica, replica_cache;
  bool synthetic = false;
  std::string seed = std::string(64, '0');
};

Result<SnapInput> synthetic(const SnapOptions& options, const SnapShape& shape, Console& console) {
  CUZK_ASSIGN(const NodeBytes seed, parse_bytes32(options.seed, "--seed"));
  const ScopedStage stage(console.progress(), "making an update");
  return make_synthetic_snap({.shape = &shape, .sector_number = options.sector, .randomness = seed});
}

Status check_file_arguments(const SnapOptions& options) {
  for (const std::string* argument : {&options.orig_commdr, &options.update_commdr, &options.sector_key,
                                      &options.sector_key_cache, &options.replica, &options.replica_cache}) {
    if (!argument->empty()) continue;
    return Error(ErrorClass::kUsage,
                 "--orig-commdr, --update-commdr, --sector-key, --sector-key-cache, --replica and --replica-cache are "
                 "needed, or --synthetic for a proof without a sector");
  }
  return {};
}

Error not_of_sector(std::string message, const char* field, const std::string& file) {
  return Error(ErrorClass::kInvalidInput, std::move(message)).at_field(field).in_file(file);
}

// What the commdr files say must follow from the caches.
Status check_commitments(const SnapOptions& options, const StoredUpdate& update, const PAux& old_aux,
                         const PAux& new_aux) {
  const std::string old_file = options.sector_key_cache + "/p_aux", new_file = options.replica_cache + "/p_aux";
  if (comm_r_of(old_aux) != update.commitments.comm_r_old) {
    return not_of_sector("the hash of comm_c and comm_r_last is not the comm_r of " + options.orig_commdr, "comm_r_old",
                         old_file);
  }
  if (new_aux.comm_c != old_aux.comm_c) {
    return not_of_sector("is not that of " + old_file + ", which an update keeps", "comm_c", new_file);
  }
  if (comm_r_of(new_aux) != update.commitments.comm_r_new) {
    return not_of_sector("the hash of comm_c and comm_r_last is not the comm_r of " + options.update_commdr,
                         "comm_r_new", new_file);
  }
  if (update.new_tree_d->root() != update.commitments.comm_d_new) {
    return not_of_sector("the root of tree D is not the comm_d of " + options.update_commdr, "comm_d_new",
                         options.replica_cache + "/" + store_file_name("tree-d"));
  }
  return {};
}

Result<SnapInput> from_files(const SnapOptions& options, const SnapShape& shape, Console& console) {
  CUZK_TRY(check_file_arguments(options));
  CUZK_ASSIGN(const CommDrInput original, read_commdr_file(options.orig_commdr));
  CUZK_ASSIGN(const CommDrInput updated, read_commdr_file(options.update_commdr));
  CUZK_ASSIGN(const StoredSector old_sector, open_sector(shape.tree, {options.sector_key, options.sector_key_cache}));
  CUZK_ASSIGN(const StoredSector new_sector, open_sector(shape.tree, {options.replica, options.replica_cache}));
  CUZK_ASSIGN(const StoredTreeD tree_d,
              StoredTreeD::open(shape.log2_nodes(), options.replica_cache + "/" + store_file_name("tree-d")));
  const StoredUpdate update = {.shape = &shape,
                               .h = shape.default_h(),
                               .sector_number = options.sector,
                               .commitments = {original.comm_r, updated.comm_d, updated.comm_r},
                               .comm_c = old_sector.p_aux.comm_c,
                               .old_tree_r = &old_sector.tree_r,
                               .new_tree_r = &new_sector.tree_r,
                               .new_tree_d = &tree_d};
  CUZK_TRY(check_commitments(options, update, old_sector.p_aux, new_sector.p_aux));
  const ScopedStage stage(console.progress(), "opening leaves", uint64_t{shape.partitions()} * shape.challenges * 3,
                          "leaves");
  return generate_snap(update);
}

Outcome describe(const SnapOptions& options, const RegisteredUpdateProof& proof, const SnapInput& input,
                 uint64_t bytes) {
  const SnapShape& shape = *input.shape;
  const size_t n = input.partitions.size();
  ResultLines lines("wrote " + options.out + " (" + human_bytes(bytes) + "): " +
                    proofs_text(n, options.synthetic, snap_partition_bytes(shape)) + ", " + std::string(proof.name));
  lines.json() = {{"kind", "snap"},
                  {"circuit", std::string(shape.circuit_id)},
                  {"registered_proof", proof.number},
                  {"registered_proof_name", std::string(proof.name)},
                  {"synthetic", options.synthetic},
                  {"file", options.out},
                  {"bytes", bytes},
                  {"partitions", n},
                  {"proof_bytes", snap_partition_bytes(shape)}};
  if (options.synthetic) lines.both("made from seed", "seed", options.seed);
  lines.json()["miner_id"] = options.miner_id;
  lines.json()["sector"] = options.sector;
  const std::string comm_r_old = fr_hex(input.commitments.comm_r_old);
  const std::string comm_r_new = fr_hex(input.commitments.comm_r_new);
  const std::string comm_d_new = fr_hex(input.commitments.comm_d_new);
  lines.line("sector", std::to_string(options.sector));
  lines.both("comm_r_old", "comm_r_old", comm_r_old);
  lines.both("comm_r_new", "comm_r_new", comm_r_new);
  lines.both("comm_d_new", "comm_d_new", comm_d_new);
  ShellLine prove("cuzk prove --kind snap");
  prove.add("--vanilla", options.out).add("--registered-proof", std::to_string(proof.number));
  prove.add("--sector-num", std::to_string(options.sector)).add("--miner-id", std::to_string(options.miner_id));
  prove.add("--comm-r-old", comm_r_old).add("--comm-r-new", comm_r_new).add("--comm-d-new", comm_d_new);
  lines.both("prove it with", "prove_command", prove.add("--out", "snap-proof.bin").text());
  return lines.take();
}

Result<Outcome> run(const SnapOptions& options, Console& console) {
  CUZK_ASSIGN(
      const RegisteredUpdateProof* proof,
      parse_registered_proof(options.registered_proof, registered_update_proofs(), registered_update_proof_by_name));
  CUZK_ASSIGN(AtomicFile out, AtomicFile::create(options.out));
  Result<SnapInput> result =
      options.synthetic ? synthetic(options, *proof->shape, console) : from_files(options, *proof->shape, console);
  if (!result.ok()) return std::move(std::move(result).error()).of_sector(options.sector);
  const SnapInput& input = *result;
  const ScopedStage stage(console.progress(), "writing", input.partitions.size(), "proofs");
  CUZK_ASSIGN(const uint64_t bytes,
              write_vanilla_json(std::move(out), static_cast<uint32_t>(input.partitions.size()),
                                 [&](uint32_t k) { return write_snap_partition(*input.shape, input.partitions[k]); }));
  return describe(options, *proof, input, bytes);
}

}  // namespace

void add_gen_vanilla_snap(CommandLine& line, CLI::App* group) {
  const auto options = std::make_shared<SnapOptions>();
  CLI::App* command =
      line.add(group, "snap-prove", "Vanilla proofs of a sector update (SnapDeals), one a partition",
               "  cuzk bench gen-vanilla snap-prove --synthetic -o snap-vanilla.json\n"
               "  cuzk bench gen-vanilla snap-prove --orig-commdr commdr.txt --update-commdr update-commdr.txt "
               "--sector-key F --sector-key-cache DIR --replica F --replica-cache DIR\n",
               [options](Console& console) { return run(*options, console); });
  command->add_option("--registered-proof", options->registered_proof, "Number or name")->capture_default_str();
  command->add_option("--sector-number", options->sector, "Sector number; only told on")
      ->check(decimal_error)
      ->capture_default_str();
  command->add_option("--miner-id", options->miner_id, "Miner's actor id; only told on")
      ->check(decimal_error)
      ->capture_default_str();
  command->add_option("-o,--out,--output", options->out, "File to write")->capture_default_str();
  std::vector<CLI::Option*> files;
  const auto file = [&](const char* name, std::string& value, const char* description) {
    files.push_back(command->add_option(name, value, description));
  };
  file("--orig-commdr", options->orig_commdr, "commdr.txt of the sealed sector (comm_r_old)");
  file("--update-commdr", options->update_commdr, "commdr.txt of the update (comm_d_new, comm_r_new)");
  file("--sector-key", options->sector_key, "Sealed file");
  file("--sector-key-cache", options->sector_key_cache, "Its cache folder");
  file("--replica", options->replica, "Updated file");
  file("--replica-cache", options->replica_cache, "Its cache folder (update-cache)");
  CLI::Option* synthetic = command->add_flag("--synthetic", options->synthetic,
                                             "Without a sector: valid, and everything free is from --seed");
  for (CLI::Option* option : files) synthetic->excludes(option);
  command->add_option("--seed", options->seed, "Decides what is free: 32 bytes as hexadecimal digits; default: zeros");
}

}  // namespace cuzk::app
