#include "base/hex.hpp"
#include "cuzk/bench_commands.hpp"
#include "cuzk/vanilla_output.hpp"
#include "filecoin/porep_synthetic_input.hpp"
#include "format/porep_c1.hpp"

namespace cuzk::app {
namespace {

struct PorepOptions {
  std::string registered_proof = "8";
  uint64_t sector = 1;
  uint64_t miner_id = 1000;
  std::string ticket, porep_seed;
  std::string out = "c1.json";
  std::string seed = std::string(64, '0');
  bool synthetic = false;  // there is no other way; for the sake of the other commands
  bool bare = false;
};

Result<PorepSyntheticInput> parse_input(const PorepOptions& options) {
  PorepSyntheticInput input;
  CUZK_ASSIGN(input.proof, parse_registered_proof(options.registered_proof, registered_seal_proofs(),
                                                  registered_seal_proof_by_name));
  input.miner_id = options.miner_id;
  input.sector_number = options.sector;
  CUZK_ASSIGN(input.randomness, parse_bytes32(options.seed, "--seed"));
  CUZK_ASSIGN(input.ticket, given_or_derived(options.ticket, "--ticket", "ticket", input.randomness));
  CUZK_ASSIGN(input.seed, given_or_derived(options.porep_seed, "--porep-seed", "seed", input.randomness));
  if (input.seed == NodeBytes{}) return Error(ErrorClass::kUsage, "--porep-seed must not be zero: provers refuse that");
  return input;
}

Outcome describe(const PorepOptions& options, const PorepC1& c1, uint64_t bytes) {
  const RegisteredSealProof& proof = *c1.proof;
  const uint32_t n = proof.partitions();
  ResultLines lines("wrote " + options.out + " (" + human_bytes(bytes) + "): synthetic C1 JSON of " +
                    std::to_string(n) + (n == 1 ? " partition of " : " partitions of ") +
                    std::to_string(proof.shape->challenges) + " challenges, " + std::string(proof.name));
  Json& json = lines.json();
  json = {{"kind", "porep"},
          {"circuit", std::string(proof.shape->circuit_id)},
          {"registered_proof", proof.number},
          {"registered_proof_name", std::string(proof.name)},
          {"synthetic", true},
          {"file", options.out},
          {"bytes", bytes},
          {"wrapped", !options.bare},
          {"partitions", n}};
  lines.both("made from seed", "seed", options.seed);
  json["miner_id"] = options.miner_id;
  json["sector"] = options.sector;
  lines.line("sector", std::to_string(options.sector) + " of miner " + std::to_string(options.miner_id));
  lines.both("ticket", "ticket", to_hex(c1.ticket));
  lines.both("porep seed", "porep_seed", to_hex(c1.seed));
  lines.both("comm_d", "comm_d", fr_hex(c1.comm_d));
  lines.both("comm_r", "comm_r", fr_hex(c1.comm_r));
  lines.both("replica id", "replica_id", fr_hex(c1.replica_id));
  ShellLine prove("cuzk prove --kind porep");
  prove.add("--c1", options.out).add("--sector-num", std::to_string(options.sector));
  prove.add("--miner-id", std::to_string(options.miner_id)).add("--out", "porep-proof.bin");
  lines.both("prove it with", "prove_command", prove.text());
  return lines.take();
}

Result<Outcome> run(const PorepOptions& options, Console& console) {
  CUZK_ASSIGN(const PorepSyntheticInput input, parse_input(options));
  console.hint(ErrorClass::kUnsupported, "`cuzk bench seal` seals small sectors of every registered proof");
  CUZK_ASSIGN(AtomicFile out, AtomicFile::create(options.out));
  console.progress().begin_stage("making openings", 0, "");
  Result<PorepC1> c1 = make_synthetic_porep(input);
  console.progress().end_stage();
  if (!c1.ok()) return std::move(c1).error();
  const ScopedStage stage(console.progress(), "writing");
  std::string document = write_porep_c1_inner(*c1);
  if (!options.bare) {
    document = write_porep_c1_wrapper(bytes_of(document), options.sector, input.proof->shape->sector_bytes());
  }
  CUZK_TRY(out.write(bytes_of(document)));
  CUZK_TRY(out.commit());
  return describe(options, *c1, document.size());
}

}  // namespace

void add_gen_vanilla_porep(CommandLine& line, CLI::App* group) {
  const auto options = std::make_shared<PorepOptions>();
  CLI::App* command = line.add(group, "porep", "C1 JSON of a PoRep over all-zero data, without a sector",
                               "  cuzk bench gen-vanilla porep -o c1.json\n"
                               "  cuzk bench gen-vanilla porep --registered-proof 5 --sector-number 42 --bare\n",
                               [options](Console& console) { return run(*options, console); });
  command->add_option("--registered-proof", options->registered_proof, "Number (0 to 9) or name")
      ->capture_default_str();
  command->add_option("--sector-number", options->sector, "Sector number")->check(decimal_error)->capture_default_str();
  command->add_option("--miner-id", options->miner_id, "Miner's actor id")->check(decimal_error)->capture_default_str();
  command->add_option("--ticket", options->ticket, "32 bytes as hexadecimal digits; default: from --seed");
  command->add_option("--porep-seed", options->porep_seed, "Interactive randomness, the same way");
  command->add_option("-o,--out,--output", options->out, "File to write")->capture_default_str();
  command->add_flag("--bare", options->bare, "Without the wrapper of lotus and Curio");
  command->add_flag("--synthetic", options->synthetic, "Implied: the sealed form is `cuzk bench seal`");
  command->add_option("--seed", options->seed, "Decides what is free: 32 bytes as hexadecimal digits; default: zeros");
}

}  // namespace cuzk::app
