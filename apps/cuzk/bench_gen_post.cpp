#include <limits>

#include "base/hex.hpp"
#include "cuzk/bench_commands.hpp"
#include "cuzk/commitment_input.hpp"
#include "cuzk/vanilla_output.hpp"
#include "filecoin/post_generate.hpp"
#include "filecoin/post_synthetic.hpp"
#include "format/post_vanilla_format.hpp"
#include "format/sector_files.hpp"

namespace cuzk::app {
namespace {

struct PostOptions {
  PostKind kind = PostKind::kWindow;
  std::string registered_proof;
  std::vector<uint64_t> sector_numbers = {1};
  uint64_t miner_id = 1000;
  std::string randomness = std::string(64, '0');
  uint32_t partition = 0;
  std::string out;
  std::vector<std::string> comm_r, sealed, cache;  // one a sector
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
  if (options.sector_numbers.size() != 1) {
    return Error(ErrorClass::kUsage, "--synthetic takes one --sector-number, the first");
  }
  const uint64_t first = options.sector_numbers[0];
  if (first > std::numeric_limits<uint64_t>::max() - options.sectors) {
    return Error(ErrorClass::kUsage, "--sector-number is too large");
  }
  std::vector<uint64_t> ids;
  for (uint32_t i = 0; i < options.sectors; ++i) ids.push_back(first + i);
  const ScopedStage stage(console.progress(), "making openings", uint64_t{options.sectors}, "sectors");
  return make_synthetic_post(request, ids, seed);
}

Status check_file_arguments(const PostOptions& options, const PostShape& shape) {
  const size_t n = options.sector_numbers.size();
  if (options.comm_r.empty() || options.sealed.empty() || options.cache.empty()) {
    return Error(ErrorClass::kUsage,
                 "--comm-r, --sealed and --cache are needed, or --synthetic for a proof without a sector");
  }
  if (options.comm_r.size() != n || options.sealed.size() != n || options.cache.size() != n) {
    return Error(ErrorClass::kUsage,
                 "--sector-number, --comm-r, --sealed and --cache must be given once a sector each");
  }
  if (n <= shape.max_real_sectors()) return {};
  return Error(ErrorClass::kUsage, std::string(shape.circuit_id) + " takes at most " +
                                       std::to_string(shape.max_real_sectors()) + " sectors");
}

Result<PostVanilla> from_files(const PostOptions& options, const PostRequest& request, Console& console) {
  const PostShape& shape = *request.shape;
  CUZK_TRY(check_file_arguments(options, shape));
  console.hint(ErrorClass::kInvalidInput, "a sector that was updated has its files in update and update-cache");
  std::vector<StoredSector> files;
  std::vector<StoredPostSector> sectors;
  const size_t n = options.sector_numbers.size();
  for (size_t i = 0; i < n; ++i) {
    const uint64_t id = options.sector_numbers[i];
    CUZK_ASSIGN(const Fr comm_r, read_comm_r(options.comm_r[i], "--comm-r"));
    Result<StoredSector> file = open_sector(shape.tree, {options.sealed[i], options.cache[i]});
    if (!file.ok()) return std::move(std::move(file).error()).of_sector(id);
    if (comm_r_of(file->p_aux) != comm_r) {
      return Error(ErrorClass::kInvalidInput, "the hash of comm_c and comm_r_last is not --comm-r " + fr_hex(comm_r) +
                                                  ": another sector's, or an "
                                                  "update's")
          .in_file(options.cache[i] + "/p_aux")
          .at_field("comm_r")
          .of_sector(id);
    }
    sectors.push_back({id, comm_r, file->p_aux.comm_c, nullptr});
    files.push_back(std::move(file).value());
  }
  for (size_t i = 0; i < n; ++i) sectors[i].tree_r = &files[i].tree_r;
  const ScopedStage stage(console.progress(), "opening leaves", n * shape.paths_per_sector(), "leaves");
  return generate_post(request, sectors);
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
  lines.line(n == 1 ? "sector" : "sectors", n == 1 ? first
                                                   : first + " to " + std::to_string(vanilla.sector(n - 1).sector_id) +
                                                         " (" + std::to_string(n) + ")");
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
  CUZK_ASSIGN(AtomicFile out, AtomicFile::create(options.out));
  CUZK_ASSIGN(const PostVanilla vanilla,
              options.synthetic ? synthetic(options, request, console) : from_files(options, request, console));
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
                "  cuzk bench gen-vanilla winning-post --sector-number 7 --comm-r commdr.txt --sealed F --cache DIR\n"
              : "  cuzk bench gen-vanilla window-post --synthetic --sectors 2349 -o wpost-vanilla.json\n"
                "  cuzk bench gen-vanilla window-post --sector-number 7 --comm-r commdr.txt --sealed F --cache DIR\n",
      [options](Console& console) { return run(*options, console); });
  command->add_option("--registered-proof", options->registered_proof, "Number or name")->capture_default_str();
  command->add_option("--sector-number", options->sector_numbers, "Sector number; of several synthetic ones, the first")
      ->check(decimal_error)
      ->capture_default_str();
  command->add_option("--miner-id", options->miner_id, "Miner's actor id; the vanilla proof does not depend on it")
      ->check(decimal_error)
      ->capture_default_str();
  command->add_option("--randomness", options->randomness, "32 bytes as hexadecimal digits; default: zeros");
  command->add_option("-o,--out,--output", options->out, "File to write")->capture_default_str();
  CLI::Option* comm_r =
      command->add_option("--comm-r", options->comm_r, "comm_r: CID, 64 hexadecimal digits, or commdr.txt");
  CLI::Option* sealed = command->add_option("--sealed", options->sealed, "Sealed file (of an updated sector: update)");
  CLI::Option* cache =
      command->add_option("--cache", options->cache, "Cache folder (of an updated sector: update-cache)");
  command->add_flag("--synthetic", options->synthetic, "Without a sector: valid, and everything free is from --seed")
      ->excludes(comm_r)
      ->excludes(sealed)
      ->excludes(cache);
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
