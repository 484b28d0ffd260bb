#include "cuzk/daemon/job_input.hpp"

#include <array>
#include <charconv>
#include <span>

#include "base/hex.hpp"
#include "base/random.hpp"
#include "config/quantity.hpp"
#include "cuzk/read_file.hpp"
#include "cuzk/stage_progress.hpp"
#include "engine/read_submission.hpp"
#include "format/commitment_cid.hpp"
#include "format/porep_c1.hpp"
#include "format/vanilla_list.hpp"

namespace cuzk::app {
namespace {

std::string text_of(std::span<const uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Result<std::string> hex_option(const std::string& text, const char* option) {
  const auto bytes = from_hex(text);
  if (bytes) return text_of(*bytes);
  return Error(ErrorClass::kUsage, std::string(option) + " is not an even number of hexadecimal digits");
}

Result<std::string> commitment_option(const std::string& text, CommitmentKind kind, const char* option) {
  if (!text.starts_with("bag")) return hex_option(text, option);
  Result<NodeBytes> commitment = read_commitment_cid(kind, text);
  if (!commitment.ok()) return Error(ErrorClass::kUsage, std::string(option) + ": " + commitment.error().message);
  return text_of(*commitment);
}

// Any number, as the daemon has to judge it; names are looked up.
Result<uint64_t> registered_number(const std::string& text, ProofKind kind) {
  uint64_t number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure == std::errc() && end == text.data() + text.size() && !text.empty()) return number;
  if (kind == ProofKind::kPorep) {
    if (const auto* proof = registered_seal_proof_by_name(text)) return proof->number;
  } else if (kind == ProofKind::kSnap) {
    if (const auto* proof = registered_update_proof_by_name(text)) return proof->number;
  } else if (const auto* proof = registered_post_proof_by_name(text)) {
    return proof->number;
  }
  return Error(ErrorClass::kUsage, "--registered-proof: '" + text + "' is no number or name of a registered proof");
}

Status read_files(const RequestOptions& options, Submission& job) {
  if (job.kind == ProofKind::kPorep) {
    if (options.c1.empty()) return Error(ErrorClass::kUsage, "--c1 is needed for porep");
    if (!options.vanilla.empty()) return Error(ErrorClass::kUsage, "porep takes no --vanilla");
    CUZK_ASSIGN(const PaddedBuffer document, read_any_file(options.c1, kMaxPorepC1Bytes));
    job.vanilla_proof = text_of(document.bytes());
    return {};
  }
  const std::string kind(to_string(job.kind));
  if (options.vanilla.empty()) return Error(ErrorClass::kUsage, "--vanilla is needed for " + kind);
  if (!options.c1.empty()) return Error(ErrorClass::kUsage, kind + " takes no --c1");
  CUZK_ASSIGN(PaddedBuffer document, read_any_file(options.vanilla, max_vanilla_list_bytes));
  Result<VanillaList> list = read_vanilla_list(std::move(document));
  if (!list.ok()) return std::move(list.error()).in_file(shown_path(options.vanilla));
  for (const auto& view : list->views()) job.vanilla_proofs.push_back(text_of(view));
  return {};
}

Result<std::optional<Priority>> parse_priority(const std::string& text) {
  if (text.empty()) return std::optional<Priority>();
  for (const Priority priority : {Priority::kLow, Priority::kNormal, Priority::kHigh, Priority::kCritical}) {
    if (text == to_string(priority)) return std::optional(priority);
  }
  return Error(ErrorClass::kUsage, "--priority is low, normal, high or critical, not '" + text + "'");
}

}  // namespace

void add_job_options(CLI::App* command, JobOptions& options, bool with_job) {
  add_request_options(command, options.request, RequestUse::kSubmit);
  if (!with_job) return;
  command->add_option("--id", options.job_id, "Id of the job; default: a new one. The same id and input join the job");
  command->add_option("--priority", options.priority, "low, normal, high, critical; default: by kind");
  command->add_option("--deadline", options.deadline, "How long the proof is of use, such as 90s; default: for ever");
}

Result<Submission> read_job(const JobOptions& options, Progress& progress) {
  const RequestOptions& o = options.request;
  Submission job;
  CUZK_ASSIGN(job.kind, parse_kind(o.kind));
  CUZK_ASSIGN(job.priority, parse_priority(options.priority));
  if (!options.deadline.empty()) {
    Result<Duration> after = parse_duration(options.deadline);
    if (!after.ok()) return Error(ErrorClass::kUsage, "--deadline: " + after.error().message);
    job.deadline = std::chrono::system_clock::now() + *after;
  }
  job.request_id = options.job_id;
  job.sector_size = uint64_t{32} << 30;  // what the reference's bench says; nothing follows from it
  job.sector_number = o.sector.value_or(1);
  job.miner_id = o.miner_id.value_or(1000);
  job.partition_index = o.partition.value_or(0);
  CUZK_ASSIGN(job.registered_proof, registered_number(o.registered_proof.empty() ? "0" : o.registered_proof, job.kind));
  CUZK_ASSIGN(job.randomness, hex_option(o.randomness.empty() ? std::string(64, '0') : o.randomness, "--randomness"));
  CUZK_ASSIGN(job.comm_r_old, commitment_option(o.comm_r_old, CommitmentKind::kSealed, "--comm-r-old"));
  CUZK_ASSIGN(job.comm_r_new, commitment_option(o.comm_r_new, CommitmentKind::kSealed, "--comm-r-new"));
  CUZK_ASSIGN(job.comm_d_new, commitment_option(o.comm_d_new, CommitmentKind::kUnsealed, "--comm-d-new"));
  const ScopedStage stage(progress, "reading the input");
  CUZK_TRY(read_files(o, job));
  return job;
}

Result<std::string> make_job_id() {
  std::array<uint8_t, 16> random{};
  CUZK_TRY(os_random(random));
  random[6] = static_cast<uint8_t>(0x40 | (random[6] & 0x0f));  // version and variant of a random UUID
  random[8] = static_cast<uint8_t>(0x80 | (random[8] & 0x3f));
  std::string id = to_hex(random);
  for (const size_t dash : {8, 13, 18, 23}) id.insert(dash, "-");
  return id;
}

void add_verify_options(CLI::App* command, VerifyOptions& options) {
  command->add_option("--dir", options.directory,
                      "Folder of the verifying key, to check what comes back; default: as for `cuzk verify`");
  command->add_option("--vk", options.vk, "Verifying key to use instead of the one in the folder");
  command->add_flag("--no-verify", options.off, "Does not check what comes back");
}

ReplyVerifier::ReplyVerifier(Submission submission, VerifyOptions options)
    : submission_(std::move(submission)), options_(std::move(options)) {}

Result<std::optional<std::string>> ReplyVerifier::prepare() {
  if (options_.off) return std::optional<std::string>("not asked for");
  Result<ProofRequest> request = read_submission(submission_);
  if (!request.ok()) return std::optional<std::string>("this input cannot be read here: " + request.error().describe());
  request_ = std::move(request).value();
  const ParameterFiles files = parameter_files(request_->circuit(), parameter_directory(options_.directory));
  Result<VerifyingKey> vk = read_verifying_key(options_.vk, files);
  if (!vk.ok() && vk.error().error_class == ErrorClass::kNotFound) {
    return std::optional<std::string>("there is no verifying key: " + vk.error().file);
  }
  if (!vk.ok()) return std::move(vk).error();
  key_ = std::make_unique<PreparedVerifyingKey>(*vk);
  return std::optional<std::string>();
}

Result<ReplyVerifier::Verdict> ReplyVerifier::check(const std::string& proof) {
  {
    const std::lock_guard lock(mutex_);
    if (!prepared_) {
      prepared_ = true;
      Result<std::optional<std::string>> obstacle = prepare();
      if (obstacle.ok()) {
        obstacle_ = *obstacle;
      } else {
        failure_ = obstacle.error();
      }
    }
  }
  if (failure_) return *failure_;
  if (obstacle_) return Verdict{false, *obstacle_};
  const std::span bytes(reinterpret_cast<const uint8_t*>(proof.data()), proof.size());
  Result<std::vector<Proof>> proofs = decode_proofs(bytes, request_->partitions());
  if (!proofs.ok()) {
    return Error(ErrorClass::kBadProof, "what the daemon returned is no proof: " + proofs.error().describe());
  }
  CUZK_TRY(verify_proofs(*key_, *request_, *proofs));
  const size_t count = proofs->size();
  return Verdict{true, std::to_string(count) + (count == 1 ? " partition" : " partitions")};
}

}  // namespace cuzk::app
