#include <limits>

#include "base/hex.hpp"
#include "cuzk/bench_commands.hpp"
#include "cuzk/vanilla_output.hpp"
#include "filecoin/post_synthetic.hpp"
#include "format/post_vanilla_format.hpp"

namespace cuzk::app {
namespace {

struct PostOptions {
  PostKind kind = PostKind::kWindow;
  std::string registered_proof;
  uint64_t first_sector = 1;
  uint64_t miner_id = 1000;
  std::string randomness = std::string(64, '0');
  uint32_t partition = 0;
  std::string out;
  bool synthetic = false;
  std::string seed = std::string(64, '0');
  uint32_t sectors = 1;
};

const char* kind_name(PostKind kind) { return kind == PostKind::kWinning ? "winning" : "window"; }

Result<PostRequest> parse_request(const PostOptions& options, const RegisteredPostProof** proof, Console& console) {
  CUZK_ASSIGN(*proof, parse_registered_proof(options.registered_proof, registered_post_proofs(),
                                             registered_post_proof_by_name));
  if ((*proof)->shape->kind != options.kind) {
    return Error(ErrorClass::kUsage, std::string((*proof)->name) + " is no " + kind_name(options.kind) + " proof");
  }
  CUZK_ASSIGN(const NodeBytes randomness, parse_randomness(options.randomness, console));
  return make_post_request((*proof)->number, randomness, options.partition);
}

Result<PostVanilla> synthetic(const PostOptions& options, const PostRequest& request, Console& console) {
  CUZK_ASSIGN(const NodeBytes seed, parse_bytes32(options.seed, "--seed"));
  const uint32_t most = request.shape->max_real_sectors();
  if (options.sectors == 0 || options.sectors > most) {
    return Error(ErrorClass::kUsage,
                 "--sectors must be 1 to " + std::to_string(most) + " for " + std::string(request.shape->circuit_id));
  }
  if (options.first_sector > std::numeric_limits<uint64_t>::max() - options.sectors) {
    return Error(ErrorClass::kUsage, "--sector-number is too large");
  }
  std::vector<uint64_t> ids;
  for (uint32_t i = 0; i < options.sectors; ++i) ids.push_back(options.first_sector + i);
  const ScopedStage stage(console.progress(), "making openings", uint64_t{options.sectors}, "sectors");
  return make_synthetic_post(request, ids, seed);
}

Outcome describe(const PostOptions& options, const RegisteredPostProof& proof, const PostRequest& request,
                 const PostVanilla& vanilla, uint64_t bytes) {
  const PostShape& shape = vanilla.shape();
  const uint32_t n = vanilla.sectors();
  const std::string randomness = to_hex(request.randomness);
  const std::string first = std::to_string(vanilla.sector(0).sector_id);
  ResultLines lines("wrote " + options.out + " (" + human_bytes(bytes) + "): " +
                    proofs_text(n, options.synthetic, post_sector_proof_bytes(shape)) + ", " + std::string(proof.name));
  Json& json = lines.json();
  json = {{"kind", kind_name(shape.kind)},
          {"circuit", std::string(shape.circuit_id)},
          {"registered_proof", proof.number},
          {"registered_proof_name", std::string(proof.name)},
          {"synthetic", options.synthetic},
          {"file", options.out},
          {"bytes", bytes},
          {"proof_bytes", post_sector_proof_bytes(shape)}};
  if (options.synthetic) lines.both("made from seed", "seed", options.seed);
  json["miner_id"] = options.miner_id;
  lines.line(n == 1 ? "sector" : "sectors",
             n == 1 ? first : first + " to " + std::to_string(vanilla.sector(n - 1).sector_id));
  lines.both("randomness", "randomness", randomness);
  if (n == 1) lines.line("comm_r", fr_hex(vanilla.sector(0).comm_r));
  json["partition_index"] = options.partition;
  Json sectors = Json::array();
  for (uint32_t i = 0; i < n; ++i) {
    sectors.push_back({{"sector", vanilla.sector(i).sector_id}, {"comm_r", fr_hex(vanilla.sector(i).comm_r)}});
  }
  json["sectors"] = std::move(sectors);
  ShellLine prove("cuzk prove");
  prove.add("--kind", kind_name(shape.kind)).add("--vanilla", options.out);
  prove.add("--registered-proof", std::to_string(proof.number)).add("--miner-id", std::to_string(options.miner_id));
  if (options.partition != 0) prove.add("--partition", std::to_string(options.partition));
  prove.add("--randomness", randomness).add("--out", std::string(kind_name(shape.kind)) + "-proof.bin");
  lines.both("prove it with", "prove_command", prove.text());
  return lines.take();
}

Result<Outcome> run(const PostOptions& options, Console& console) {
  const RegisteredPostProof* proof = nullptr;
  CUZK_ASSIGN(const PostRequest request, parse_request(options, &proof, console));
  if (!options.synthetic) return Error(ErrorClass::kUsage, "--synthetic is needed");
  CUZK_ASSIGN(AtomicFile out, AtomicFile::create(options.out));
  CUZK_ASSIGN(const PostVanilla vanilla, synthetic(options, request, console));
  const ScopedStage stage(console.progress(), "writing", vanilla.sectors(), "proofs");
  CUZK_ASSIGN(const uint64_t bytes, write_vanilla_json(std::move(out), vanilla.sectors(), [&](uint32_t i) {
                return write_post_sector_proof(vanilla, i);
              }));
  return describe(options, *proof, request, vanilla, bytes);
}

void add_command(CommandLine& line, CLI::App* group, PostKind kind) {
  const auto options = std::make_shared<PostOptions>();
  const bool winning = kind == PostKind::kWinning;
  options->kind = kind;
  options->registered_proof = winning ? "3" : "13";
  options->out = winning ? "winning-vanilla.json" : "wpost-vanilla.json";
  const std::string name = winning ? "winning-post" : "window-post";
  CLI::App* command = line.add(
      group, name, winning ? "Vanilla proof of a Winning PoSt" : "Vanilla proofs of a partition of a Window PoSt",
      winning ? "  cuzk bench gen-vanilla winning-post --synthetic -o winning-vanilla.json\n"
              : "  cuzk bench gen-vanilla window-post --synthetic --sectors 2349 -o wpost-vanilla.json\n"
                "  cuzk bench gen-vanilla window-post --synthetic --registered-proof 10 --sectors 2\n",
      [options](Console& console) { return run(*options, console); });
  command->add_option("--registered-proof", options->registered_proof, "Number or name")
      ->check(decimal_error)
      ->capture_default_str();
  command->add_option("--sector-number", options->first_sector, "Sector number; of several, the first one")
      ->check(decimal_error)
      ->capture_default_str();
  command->add_option("--miner-id", options->miner_id, "Miner's actor id; the vanilla proof does not depend on it")
      ->check(decimal_error)
      ->capture_default_str();
  command->add_option("--randomness", options->randomness, "32 bytes as hexadecimal digits; default: zeros");
  command->add_option("-o,--out", options->out, "File to write")->capture_default_str();
  command->add_flag("--synthetic", options->synthetic, "Without a sector: valid, and everything free is from --seed");
  command->add_option("--seed", options->seed, "Decides what is free: 32 bytes as hexadecimal digits; default: zeros");
  if (winning) return;
  command->add_option("--sectors", options->sectors, "How many; a full 32 GiB partition has 2349")
      ->check(decimal_error)
      ->capture_default_str();
  command->add_option("--partition", options->partition, "Partition in the deadline; matters to V1 challenges only")
      ->check(decimal_error)
      ->capture_default_str();
}

}  // namespace

void add_gen_vanilla_post(CommandLine& line, CLI::App* group) {
  add_command(line, group, PostKind::kWinning);
  add_command(line, group, PostKind::kWindow);
}

}  // namespace cuzk::app
