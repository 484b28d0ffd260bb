// Any bytes as a record of the journal, with the digest that fits them, are refused or a job that is encoded the same.
#include <string>
#include <string_view>

#include "base/assert.hpp"
#include "hash/sha256.hpp"
#include "queue/journal_records.hpp"

namespace {

std::string sha256_of(std::string_view bytes) {
  const cuzk::Sha256Digest digest = cuzk::sha256({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
  return {digest.begin(), digest.end()};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace cuzk;
  constexpr JobKey kKey = 0x0706050403020100;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const Result<Journal::EndedJob> ended = decode_ended(kKey, bytes, sha256_of(bytes));
  if (ended.ok()) CUZK_ASSERT(encode_ended(*ended).record == bytes);

  // The first byte says where the head ends.
  if (size == 0) return 0;
  const size_t head_bytes = std::min<size_t>(data[0], size - 1);
  const std::string_view head = bytes.substr(1, head_bytes), submission = bytes.substr(1 + head_bytes);
  const Result<Journal::PendingJob> pending = decode_pending(kKey, head, submission, sha256_of(bytes.substr(1)));
  if (pending.ok()) {
    const PendingRecord again =
        encode_pending(kKey, pending->job_id, *pending->submission, pending->digest, pending->accepted);
    CUZK_ASSERT(again.head == head && again.submission == submission);
  }
  return 0;
}
