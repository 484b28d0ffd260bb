#include "base/hex.hpp"
#include "cuzk/bench_commands.hpp"
#include "cuzk/vanilla_output.hpp"
#include "filecoin/snap_synthetic.hpp"
#include "format/snap_vanilla_format.hpp"

namespace cuzk::app {
namespace {

struct SnapOptions {
  std::string registered_proof = "3";
  uint64_t sector = 1;
  uint64_t miner_id = 1000;
  std::string out = "snap-vanilla.json";
  bool synthetic = false;
  std::string seed = std::string(64, '0');
};

Result<SnapInput> synthetic(const SnapOptions& options, const SnapShape& shape, Console& console) {
  CUZK_ASSIGN(const NodeBytes seed, parse_bytes32(options.seed, "--seed"));
  const ScopedStage stage(console.progress(), "making an update");
  return make_synthetic_snap({.shape = &shape, .sector_number = options.sector, .randomness = seed});
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
  if (!options.synthetic) return Error(ErrorClass::kUsage, "--synthetic is needed");
  CUZK_ASSIGN(AtomicFile out, AtomicFile::create(options.out));
  CUZK_ASSIGN(const SnapInput input, synthetic(options, *proof->shape, console));
  const ScopedStage stage(console.progress(), "writing", input.partitions.size(), "proofs");
  CUZK_ASSIGN(const uint64_t bytes,
              write_vanilla_json(std::move(out), static_cast<uint32_t>(input.partitions.size()),
                                 [&](uint32_t k) { return write_snap_partition(*input.shape, input.partitions[k]); }));
  return describe(options, *proof, input, bytes);
}

}  // namespace

void add_gen_vanilla_snap(CommandLine& line, CLI::App* group) {
  const auto options = std::make_shared<SnapOptions>();
  CLI::App* command = line.add(group, "snap-prove", "Vanilla proofs of a sector update (SnapDeals), one a partition",
                               "  cuzk bench gen-vanilla snap-prove --synthetic -o snap-vanilla.json\n"
                               "  cuzk bench gen-vanilla snap-prove --synthetic --registered-proof 0 --json\n",
                               [options](Console& console) { return run(*options, console); });
  command->add_option("--registered-proof", options->registered_proof, "Number or name")
      ->check(decimal_error)
      ->capture_default_str();
  command->add_option("--sector-number", options->sector, "Sector number; only told on")
      ->check(decimal_error)
      ->capture_default_str();
  command->add_option("--miner-id", options->miner_id, "Miner's actor id; only told on")
      ->check(decimal_error)
      ->capture_default_str();
  command->add_option("-o,--out", options->out, "File to write")->capture_default_str();
  command->add_flag("--synthetic", options->synthetic, "Without a sector: valid, and everything free is from --seed");
  command->add_option("--seed", options->seed, "Decides what is free: 32 bytes as hexadecimal digits; default: zeros");
}

}  // namespace cuzk::app
