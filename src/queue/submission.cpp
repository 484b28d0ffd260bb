// The encoding, all numbers little-endian:
//
//   "cuzkSUB" version:u8
//   request_id:bytes  priority:u8 (0: none)  has_deadline:u8  deadline:i64 (ns since 1970, 0 where there is none)
//   kind:u8  sector_size:u64  registered_proof:u64  sector_number:u64  miner_id:u64  partition_index:u32
//   randomness:bytes  comm_r_old:bytes  comm_r_new:bytes  comm_d_new:bytes
//   vanilla_proof:bytes  n:u64  n x vanilla_proofs[i]:bytes
//
// where bytes is length:u64 and that many bytes. The digest is over another magic and the last three lines.
#include "queue/submission.hpp"

#include "hash/sha256.hpp"
#include "queue/byte_form.hpp"

namespace cuzk {
namespace {

using byte_form::put_bytes;
using byte_form::put_integer;
using byte_form::Reader;

constexpr std::string_view kMagic = "cuzkSUB";
constexpr std::string_view kDigestMagic = "cuzkDIG\1";
constexpr uint8_t kVersion = 1;

using Nanoseconds = std::chrono::nanoseconds;

// Sinks beside AppendSink: how long the encoding is, its digest.
struct CountSink {
  uint64_t bytes = 0;
  void append(const void*, size_t size) { bytes += size; }
};
struct DigestSink {
  Sha256 hash;
  void append(const void* data, size_t size) { hash.update({static_cast<const uint8_t*>(data), size}); }
};

template <class Sink>
void put_payload(Sink& sink, const Submission& s) {
  put_integer(sink, static_cast<uint8_t>(s.kind));
  for (uint64_t number : {s.sector_size, s.registered_proof, s.sector_number, s.miner_id}) put_integer(sink, number);
  put_integer(sink, s.partition_index);
  for (const std::string* bytes : {&s.randomness, &s.comm_r_old, &s.comm_r_new, &s.comm_d_new, &s.vanilla_proof}) {
    put_bytes(sink, *bytes);
  }
  put_integer(sink, uint64_t{s.vanilla_proofs.size()});
  for (const std::string& proof : s.vanilla_proofs) put_bytes(sink, proof);
}

template <class Sink>
void put_submission(Sink& sink, const Submission& s) {
  sink.append(kMagic.data(), kMagic.size());
  put_integer(sink, kVersion);
  put_bytes(sink, s.request_id);
  put_integer(sink, static_cast<uint8_t>(s.priority ? static_cast<uint8_t>(*s.priority) : 0));
  put_integer(sink, static_cast<uint8_t>(s.deadline.has_value()));
  const int64_t ns = s.deadline ? std::chrono::duration_cast<Nanoseconds>(s.deadline->time_since_epoch()).count() : 0;
  put_integer(sink, ns);
  put_payload(sink, s);
}

Status read_head(Reader& in, Submission& out) {
  CUZK_TRY(in.literal("magic", kMagic));
  uint8_t version = 0;
  CUZK_TRY(in.integer("version", version));
  if (version != kVersion) {
    Error error = in.wrong("version", "a submission in version " + std::to_string(version) + " of its form");
    if (version > kVersion) error.error_class = ErrorClass::kUnsupported;
    return error;
  }
  CUZK_TRY(in.bytes("request_id", out.request_id));
  uint8_t priority = 0, has_deadline = 0;
  CUZK_TRY(in.small("priority", static_cast<uint8_t>(Priority::kCritical), priority));
  if (priority != 0) out.priority = static_cast<Priority>(priority);
  CUZK_TRY(in.small("has_deadline", 1, has_deadline));
  int64_t ns = 0;
  CUZK_TRY(in.integer("deadline", ns));
  if (!has_deadline && ns != 0) return in.wrong("deadline", "a value without a deadline");
  if (has_deadline) {
    out.deadline = std::chrono::system_clock::time_point(
        std::chrono::duration_cast<std::chrono::system_clock::duration>(Nanoseconds(ns)));
  }
  return {};
}

Status read_payload(Reader& in, Submission& out) {
  uint8_t kind = 0;
  CUZK_TRY(in.small("kind", kProofKinds.size() - 1, kind));
  out.kind = static_cast<ProofKind>(kind);
  CUZK_TRY(in.integer("sector_size", out.sector_size));
  CUZK_TRY(in.integer("registered_proof", out.registered_proof));
  CUZK_TRY(in.integer("sector_number", out.sector_number));
  CUZK_TRY(in.integer("miner_id", out.miner_id));
  CUZK_TRY(in.integer("partition_index", out.partition_index));
  CUZK_TRY(in.bytes("randomness", out.randomness));
  CUZK_TRY(in.bytes("comm_r_old", out.comm_r_old));
  CUZK_TRY(in.bytes("comm_r_new", out.comm_r_new));
  CUZK_TRY(in.bytes("comm_d_new", out.comm_d_new));
  CUZK_TRY(in.bytes("vanilla_proof", out.vanilla_proof));
  uint64_t count = 0;
  CUZK_TRY(in.integer("vanilla_proofs", count));
  if (count > in.rest() / sizeof(uint64_t)) {
    return in.wrong("vanilla_proofs", "there are fewer bytes left than so many proofs have");
  }
  out.vanilla_proofs.resize(count);
  for (uint64_t i = 0; i < count; ++i) {
    CUZK_TRY(in.bytes("vanilla_proofs[" + std::to_string(i) + "]", out.vanilla_proofs[i]));
  }
  return in.end();
}

}  // namespace

static_assert(std::chrono::system_clock::period::den == std::nano::den, "a deadline of the journal is exact");

uint64_t Submission::bytes() const {
  uint64_t bytes = sizeof(Submission) + vanilla_proofs.capacity() * sizeof(std::string);
  for (const std::string* s : {&request_id, &randomness, &comm_r_old, &comm_r_new, &comm_d_new, &vanilla_proof}) {
    bytes += s->capacity();
  }
  for (const std::string& proof : vanilla_proofs) bytes += proof.capacity();
  return bytes;
}

PayloadDigest Submission::digest() const {
  DigestSink sink;
  sink.append(kDigestMagic.data(), kDigestMagic.size());
  put_payload(sink, *this);
  return sink.hash.finish();
}

std::string encode_submission(const Submission& submission) {
  CountSink counter;
  put_submission(counter, submission);
  std::string out;
  out.reserve(counter.bytes);
  byte_form::AppendSink appender{out};
  put_submission(appender, submission);
  return out;
}

Result<Submission> decode_submission(std::string_view bytes) {
  Reader in(bytes, "submission");
  Submission submission;
  CUZK_TRY(read_head(in, submission));
  CUZK_TRY(read_payload(in, submission));
  return submission;
}

}  // namespace cuzk
