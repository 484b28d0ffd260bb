#include "cuzk/request_options.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <span>
#include <vector>

#include "base/hex.hpp"
#include "cuzk/read_file.hpp"
#include "cuzk/stage_progress.hpp"
#include "format/commitment_cid.hpp"
#include "format/porep_c1.hpp"
#include "format/post_vanilla_format.hpp"
#include "format/snap_vanilla_format.hpp"
#include "format/vanilla_list.hpp"

namespace cuzk::app {
namespace {

Error invalid(std::string field, std::string message) {
  return Error(ErrorClass::kInvalidInput, std::move(message)).at_field(std::move(field));
}

// Which kinds take an option, and which cannot do without it.
struct OptionRule {
  const char* name;
  bool given;
  bool taken, needed;
};

Status check_options(const RequestOptions& o, ProofKind kind, RequestUse use) {
  const bool porep = kind == ProofKind::kPorep, snap = kind == ProofKind::kSnap, post = !porep && !snap;
  const OptionRule rules[] = {
      {"--c1", !o.c1.empty(), porep, porep},
      {"--vanilla", !o.vanilla.empty(), !porep, post || (snap && use == RequestUse::kProve)},
      {"--registered-proof", !o.registered_proof.empty(), true, !porep},
      {"--randomness", !o.randomness.empty(), post, post},
      {"--partition", o.partition.has_value(), post, false},
      {"--comm-r-old", !o.comm_r_old.empty(), snap, snap},
      {"--comm-r-new", !o.comm_r_new.empty(), snap, snap},
      {"--comm-d-new", !o.comm_d_new.empty(), snap, snap},
  };
  const std::string name(to_string(kind));
  for (const OptionRule& rule : rules) {
    if (rule.needed && !rule.given) return Error(ErrorClass::kUsage, "--kind " + name + " needs " + rule.name);
    if (rule.given && !rule.taken) return Error(ErrorClass::kUsage, "--kind " + name + " takes no " + rule.name);
  }
  return {};
}

struct ProofName {
  uint64_t number;
  std::string_view name;
  const CircuitSpec* circuit;  // nullptr: not of the tables' kinds
};

template <class Proof>
std::optional<ProofName> found(std::span<const Proof> proofs, const std::string& text,
                               const Proof* (*by_name)(std::string_view)) {
  uint64_t number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_number = failure == std::errc() && end == text.data() + text.size();
  const Proof* proof = !is_number ? by_name(text) : number < proofs.size() ? &proofs[number] : nullptr;
  if (proof == nullptr) return std::nullopt;
  return ProofName{proof->number, proof->name, &circuit_spec_of(proof->shape)};
}

// The registered proof of this kind with that number or name.
Result<ProofName> parse_registered_proof(const std::string& text, ProofKind kind) {
  const std::optional<ProofName> proof =
      kind == ProofKind::kPorep  ? found(registered_seal_proofs(), text, registered_seal_proof_by_name)
      : kind == ProofKind::kSnap ? found(registered_update_proofs(), text, registered_update_proof_by_name)
                                 : found(registered_post_proofs(), text, registered_post_proof_by_name);
  const std::string of_kind = " registered proof of kind " + std::string(to_string(kind));
  if (!proof) return invalid("registered_proof", "'" + text + "' is no number or name of a" + of_kind);
  if (proof->circuit->kind() != kind) {
    return invalid("registered_proof", text + " is " + std::string(proof->name) + ", which is no" + of_kind);
  }
  return *proof;
}

Result<std::vector<uint8_t>> parse_32_bytes(const std::string& text, const char* option, const char* field) {
  auto bytes = from_hex(text);
  if (bytes && bytes->size() == kNodeBytes) return std::move(*bytes);
  const std::string what = bytes ? "has " + std::to_string(bytes->size()) + " bytes, needs 32"
                                 : "is not an even number of hexadecimal digits";
  return invalid(field, std::string(option) + " " + what);
}

// A commitment as hexadecimal digits or as its CID.
Result<std::vector<uint8_t>> parse_commitment(const std::string& text, CommitmentKind kind, const char* option,
                                              const char* field) {
  if (!text.starts_with("bag")) return parse_32_bytes(text, option, field);
  Result<NodeBytes> commitment = read_commitment_cid(kind, text);
  if (commitment.ok()) return std::vector<uint8_t>(commitment->begin(), commitment->end());
  commitment.error().field = field;
  commitment.error().message = std::string(option) + ": " + commitment.error().message;
  return std::move(commitment).error();
}

Status check_miner(const RequestOptions& options, const PorepC1& c1) {
  if (!options.miner_id) return {};
  if (!c1.sector_number) {
    return Error(ErrorClass::kUsage, "--miner-id needs --sector-num where the input has no SectorNum");
  }
  return check_porep_replica_id(c1, *options.miner_id, *c1.sector_number);
}

Result<ProofRequest> read_porep(const RequestOptions& options) {
  CUZK_ASSIGN(const PaddedBuffer document, read_any_file(options.c1, max_porep_c1_bytes));
  Result<PorepC1> read = read_porep_c1(document);
  if (!read.ok()) {
    if (read.error().file.empty()) read.error().file = shown_path(options.c1);
    return std::move(read).error();
  }
  PorepC1 c1 = std::move(read).value();
  if (!options.registered_proof.empty()) {
    CUZK_ASSIGN(const ProofName proof, parse_registered_proof(options.registered_proof, ProofKind::kPorep));
    if (proof.number != c1.proof->number) {
      return invalid("registered_proof",
                     "is " + std::string(c1.proof->name) + ", but --registered-proof is " + std::string(proof.name))
          .in_file(shown_path(options.c1));
    }
  }
  if (options.sector && c1.sector_number && *options.sector != *c1.sector_number) {
    return invalid("SectorNum", "is " + std::to_string(*c1.sector_number) + ", but --sector-num is " +
                                    std::to_string(*options.sector))
        .in_file(shown_path(options.c1));
  }
  if (options.sector) c1.sector_number = options.sector;
  CUZK_TRY(check_miner(options, c1));
  return ProofRequest(std::move(c1));
}

Result<VanillaList> read_vanilla(const std::string& path) {
  CUZK_ASSIGN(PaddedBuffer document, read_any_file(path, max_vanilla_list_bytes));
  Result<VanillaList> list = read_vanilla_list(std::move(document));
  if (!list.ok()) list.error().file = shown_path(path);
  return list;
}

Result<ProofRequest> read_snap(const RequestOptions& options) {
  SnapRequest request;
  CUZK_ASSIGN(const ProofName proof, parse_registered_proof(options.registered_proof, ProofKind::kSnap));
  constexpr CommitmentKind kSealed = CommitmentKind::kSealed, kUnsealed = CommitmentKind::kUnsealed;
  CUZK_ASSIGN(const auto comm_r_old, parse_commitment(options.comm_r_old, kSealed, "--comm-r-old", "comm_r_old"));
  CUZK_ASSIGN(const auto comm_r_new, parse_commitment(options.comm_r_new, kSealed, "--comm-r-new", "comm_r_new"));
  CUZK_ASSIGN(const auto comm_d_new, parse_commitment(options.comm_d_new, kUnsealed, "--comm-d-new", "comm_d_new"));
  request.registered_proof = proof.number;
  request.sector_number = options.sector;
  request.comm_r_old = comm_r_old;
  request.comm_r_new = comm_r_new;
  request.comm_d_new = comm_d_new;
  if (options.vanilla.empty()) {
    CUZK_ASSIGN(SnapInput input, read_snap_statement(request));
    return ProofRequest(std::move(input));
  }
  CUZK_ASSIGN(const VanillaList list, read_vanilla(options.vanilla));
  const auto views = list.views();
  request.vanilla_proofs = views;
  CUZK_ASSIGN(SnapInput input, read_snap_request(request));
  return ProofRequest(std::move(input));
}

Status check_sector(const RequestOptions& options, const PostVanilla& vanilla) {
  if (!options.sector) return {};
  for (uint32_t i = 0; i < vanilla.sectors(); ++i) {
    if (vanilla.sector(i).sector_id == *options.sector) return {};
  }
  const std::string wanted = std::to_string(*options.sector);
  if (vanilla.sectors() > 1) return invalid("vanilla_proofs", "there is no sector " + wanted + ", the --sector-num");
  return invalid("vanilla_proofs[0].sector_id",
                 "is " + std::to_string(vanilla.sector(0).sector_id) + ", but --sector-num is " + wanted);
}

Result<ProofRequest> read_post(const RequestOptions& options, ProofKind kind) {
  CUZK_ASSIGN(const ProofName proof, parse_registered_proof(options.registered_proof, kind));
  CUZK_ASSIGN(const auto randomness, parse_32_bytes(options.randomness, "--randomness", "randomness"));
  CUZK_TRY(check_post_randomness(randomness));
  CUZK_ASSIGN(const VanillaList list, read_vanilla(options.vanilla));
  const auto views = list.views();
  CUZK_ASSIGN(PostInput input, read_post_request({proof.number, 0, randomness, options.partition.value_or(0), views}));
  CUZK_TRY(check_sector(options, input.vanilla));
  CUZK_TRY(check_post_sector_order(input.vanilla));
  return ProofRequest(std::move(input));
}

}  // namespace

Result<ProofKind> parse_kind(const std::string& text) {
  std::string lower = text;
  for (char& c : lower) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  if (const auto kind = proof_kind_by_name(lower)) return *kind;
  std::string known;
  for (const ProofKind kind : kProofKinds) known += (known.empty() ? "" : ", ") + std::string(to_string(kind));
  return Error(ErrorClass::kUsage, "there is no kind of proof '" + text + "'; there are " + known);
}

void add_request_options(CLI::App* command, RequestOptions& options, RequestUse use) {
  const bool verify = use == RequestUse::kVerify;
  const bool submit = use == RequestUse::kSubmit;
  command
      ->add_option(submit ? "-t,--type,--kind" : "--kind", options.kind, "Kind of proof: porep, snap, window, winning")
      ->required();
  command->add_option("--c1,--input", options.c1, "PoRep: C1 JSON, with or without the SectorNum wrapper; - for stdin");
  command->add_option("--vanilla", options.vanilla,
                      std::string("snap, window, winning: vanilla proofs, a JSON array of base64, or the bytes of one; "
                                  "- for stdin") +
                          (verify ? "; snap can do without" : ""));
  command->add_option(
      "--registered-proof", options.registered_proof,
      submit ? "Number or name; default 0" : "Number or name; needed but for PoRep, where the C1 has it");
  command->add_option("--sector-num,--sector", options.sector, "Sector number; must agree with the input's")
      ->check(decimal_error);
  command
      ->add_option("--miner-id", options.miner_id,
                   "Miner's actor id; PoRep: the replica id is recomputed from it. No other kind depends on it")
      ->check(decimal_error);
  command
      ->add_option("--partition", options.partition,
                   "window, winning: which partition of its deadline; decides the challenges of window V1 only")
      ->check(decimal_error);
  command->add_option("--randomness", options.randomness, "window, winning: 32 bytes as hexadecimal digits");
  command->add_option("--comm-r-old", options.comm_r_old,
                      "snap: of the sealed sector, 32 bytes as hexadecimal digits, or a CID");
  command->add_option("--comm-r-new", options.comm_r_new, "snap: of the updated sector");
  command->add_option("--comm-d-new", options.comm_d_new, "snap: of the new data");
}

Result<ProofRequest> read_request(const RequestOptions& options, RequestUse use, Progress& progress) {
  CUZK_ASSIGN(const ProofKind kind, parse_kind(options.kind));
  CUZK_TRY(check_options(options, kind, use));
  const ScopedStage stage(progress, "reading the input");
  switch (kind) {
    case ProofKind::kPorep: return read_porep(options);
    case ProofKind::kSnap: return read_snap(options);
    default: return read_post(options, kind);
  }
}

void describe_request(const ProofRequest& request, Json& json) {
  json["kind"] = std::string(to_string(request.kind()));
  json["registered_proof"] = std::string(request.registered_proof());
  json["circuit"] = std::string(request.circuit().id());
  json["partitions"] = request.partitions();
  if (request.sector()) json["sector"] = *request.sector();
  if (request.post() != nullptr) json["sectors"] = request.post()->vanilla.sectors();
}

}  // namespace cuzk::app
