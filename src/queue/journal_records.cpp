#include "queue/journal_records.hpp"

#include <algorithm>

#include "hash/sha256.hpp"
#include "queue/byte_form.hpp"

namespace cuzk {
namespace {

using byte_form::AppendSink;
using byte_form::put_bytes;
using byte_form::put_integer;
using byte_form::Reader;
using Time = std::chrono::system_clock::time_point;

constexpr std::string_view kPendingMagic = "cuzkPND\1", kEndedMagic = "cuzkEND\1";
constexpr auto kLastClass = static_cast<uint8_t>(kLastErrorClass);

std::string sha256_of(std::string_view first, std::string_view second = {}) {
  Sha256 hash;
  for (std::string_view bytes : {first, second}) {
    hash.update({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
  }
  const Sha256Digest digest = hash.finish();
  return {digest.begin(), digest.end()};
}

Error damaged(std::string_view what) {
  return {ErrorClass::kCorrupt, "the record of a job is damaged: " + std::string(what)};
}

void put_time(AppendSink& out, Time time) {
  put_integer(out, int64_t{std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count()});
}

Status read_time(Reader& in, std::string_view field, Time& out) {
  int64_t ns = 0;
  CUZK_TRY(in.integer(field, ns));
  out = Time(std::chrono::duration_cast<Time::duration>(std::chrono::nanoseconds(ns)));
  return {};
}

Status read_key(Reader& in, JobKey key) {
  JobKey read = 0;
  CUZK_TRY(in.integer("key", read));
  if (read != key) return in.wrong("key", "the record of a job lies under the key of another");
  return {};
}

void put_digest(AppendSink& out, const PayloadDigest& digest) { out.append(digest.data(), digest.size()); }

Status read_digest(Reader& in, PayloadDigest& out) {
  for (uint8_t& byte : out) CUZK_TRY(in.integer("digest", byte));
  return {};
}

// A flag and, where it is 1, a number.
template <class Integer>
void put_optional(AppendSink& out, const std::optional<Integer>& value) {
  put_integer(out, static_cast<uint8_t>(value.has_value()));
  if (value) put_integer(out, *value);
}

template <class Integer>
Status read_optional(Reader& in, std::string_view field, std::optional<Integer>& out) {
  uint8_t is_there = 0;
  CUZK_TRY(in.small(field, 1, is_there));
  if (is_there) CUZK_TRY(in.integer(field, out.emplace()));
  return {};
}

void put_error(AppendSink& out, const std::optional<Error>& error) {
  put_integer(out, static_cast<uint8_t>(error.has_value()));
  if (!error) return;
  put_integer(out, static_cast<uint8_t>(error->error_class));
  for (const std::string* text : {&error->message, &error->field, &error->file}) put_bytes(out, *text);
  put_optional(out, error->offset);
  put_optional(out, error->sector);
  put_optional(out, error->partition);
}

Status read_error(Reader& in, std::optional<Error>& out) {
  uint8_t is_there = 0, error_class = 0;
  CUZK_TRY(in.small("error", 1, is_there));
  if (!is_there) return {};
  Error error;
  CUZK_TRY(in.small("error.class", kLastClass, error_class));
  error.error_class = static_cast<ErrorClass>(error_class);
  CUZK_TRY(in.bytes("error.message", error.message));
  CUZK_TRY(in.bytes("error.field", error.field));
  CUZK_TRY(in.bytes("error.file", error.file));
  CUZK_TRY(read_optional(in, "error.offset", error.offset));
  CUZK_TRY(read_optional(in, "error.sector", error.sector));
  CUZK_TRY(read_optional(in, "error.partition", error.partition));
  out = std::move(error);
  return {};
}

void put_result(AppendSink& out, const JobResult& result) {
  put_integer(out, static_cast<uint8_t>(result.state));
  put_bytes(out, result.job_id);
  put_bytes(out, {reinterpret_cast<const char*>(result.proof.data()), result.proof.size()});
  put_error(out, result.error);
  const JobTimes& t = result.times;
  for (uint64_t ms : {t.queue_wait_ms, t.srs_load_ms, t.synthesis_ms, t.gpu_compute_ms, t.total_ms}) {
    put_integer(out, ms);
  }
}

Status read_result(Reader& in, JobResult& out) {
  uint8_t state = 0;
  CUZK_TRY(in.small("state", static_cast<uint8_t>(JobState::kExpired), state));
  out.state = static_cast<JobState>(state);
  if (!is_final(out.state)) return in.wrong("state", "a finished job is in a state that is not final");
  CUZK_TRY(in.bytes("job_id", out.job_id));
  CUZK_TRY(in.bytes("proof", out.proof));
  CUZK_TRY(read_error(in, out.error));
  JobTimes& t = out.times;
  for (uint64_t* ms : {&t.queue_wait_ms, &t.srs_load_ms, &t.synthesis_ms, &t.gpu_compute_ms, &t.total_ms}) {
    CUZK_TRY(in.integer("times", *ms));
  }
  return {};
}

}  // namespace

PendingRecord encode_pending(JobKey key, const std::string& job_id, const Submission& submission,
                             const PayloadDigest& digest, Time accepted) {
  PendingRecord record;
  AppendSink out{record.head};
  out.append(kPendingMagic.data(), kPendingMagic.size());
  put_integer(out, key);
  put_time(out, accepted);
  put_bytes(out, job_id);
  put_digest(out, digest);
  record.submission = encode_submission(submission);
  record.digest = sha256_of(record.head, record.submission);
  return record;
}

Result<Journal::PendingJob> decode_pending(JobKey key, std::string_view head, std::string_view submission,
                                           std::string_view digest) {
  if (sha256_of(head, submission) != digest) return damaged("its digest is another");
  Reader in(head, "record of an accepted job");
  Journal::PendingJob job;
  job.key = key;
  CUZK_TRY(in.literal("magic", kPendingMagic));
  CUZK_TRY(read_key(in, key));
  CUZK_TRY(read_time(in, "accepted", job.accepted));
  CUZK_TRY(in.bytes("job_id", job.job_id));
  CUZK_TRY(read_digest(in, job.digest));
  CUZK_TRY(in.end());
  if (job.job_id.empty()) return in.wrong("job_id", "an accepted job has no id");
  CUZK_ASSIGN(Submission decoded, decode_submission(submission));
  job.submission = std::make_shared<const Submission>(std::move(decoded));
  return job;
}

EndedRecord encode_ended(const Journal::EndedJob& job) {
  EndedRecord record;
  AppendSink out{record.record};
  out.append(kEndedMagic.data(), kEndedMagic.size());
  put_integer(out, job.key);
  put_time(out, job.ended);
  put_integer(out, static_cast<uint8_t>(job.kind));
  put_integer(out, static_cast<uint8_t>(job.priority));
  put_digest(out, job.digest);
  put_result(out, job.result);
  record.digest = sha256_of(record.record);
  return record;
}

Result<Journal::EndedJob> decode_ended(JobKey key, std::string_view record, std::string_view digest) {
  if (sha256_of(record) != digest) return damaged("its digest is another");
  Reader in(record, "record of a finished job");
  Journal::EndedJob job;
  job.key = key;
  uint8_t kind = 0, priority = 0;
  CUZK_TRY(in.literal("magic", kEndedMagic));
  CUZK_TRY(read_key(in, key));
  CUZK_TRY(read_time(in, "ended", job.ended));
  CUZK_TRY(in.small("kind", kProofKinds.size() - 1, kind));
  job.kind = static_cast<ProofKind>(kind);
  CUZK_TRY(in.small("priority", static_cast<uint8_t>(Priority::kCritical), priority));
  if (priority == 0) return in.wrong("priority", "no such value: 0");
  job.priority = static_cast<Priority>(priority);
  CUZK_TRY(read_digest(in, job.digest));
  CUZK_TRY(read_result(in, job.result));
  CUZK_TRY(in.end());
  return job;
}

}  // namespace cuzk
