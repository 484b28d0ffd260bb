// Any bytes are either refused with their place, or the encoding of a submission, which has just these bytes.
#include <string_view>

#include "base/assert.hpp"
#include "queue/submission.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace cuzk;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const Result<Submission> submission = decode_submission(bytes);
  if (!submission.ok()) {
    const Error& error = submission.error();
    CUZK_ASSERT(error.error_class == ErrorClass::kCorrupt || error.error_class == ErrorClass::kUnsupported);
    CUZK_ASSERT(error.offset && *error.offset <= size && !error.message.empty());
    return 0;
  }
  CUZK_ASSERT(encode_submission(*submission) == bytes);
  // Four times the input and a constant: a proof of 8 bytes of length becomes a string object.
  CUZK_ASSERT(submission->bytes() <= 4 * size + 1024);
  submission->digest();
  return 0;
}
