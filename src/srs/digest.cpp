#include "srs/digest.hpp"

#include <algorithm>
#include <vector>

#include "base/hex.hpp"
#include "hash/blake2b.hpp"
#include "srs/progress_counter.hpp"

namespace cuzk {
namespace {

constexpr size_t kBlockBytes = size_t{1} << 20;
constexpr size_t kDigestBytes = 64, kShownBytes = 16;

}  // namespace

Result<std::string> file_digest(const ByteSource& source, Progress& progress) {
  ProgressCounter counter(progress, "digest", source.size(), "bytes");
  Blake2b hash(kDigestBytes);
  std::vector<uint8_t> block;
  for (uint64_t offset = 0; offset < source.size(); offset += block.size()) {
    CUZK_TRY(check_wanted(progress));
    block.resize(std::min<uint64_t>(kBlockBytes, source.size() - offset));
    CUZK_TRY(source.read(offset, block));
    hash.update(block);
    counter.add(block.size());
  }
  CUZK_TRY(source.check_unchanged());
  return to_hex(hash.finish()).substr(0, 2 * kShownBytes);
}

Result<std::string> file_digest(const std::string& path, Progress& progress) {
  CUZK_ASSIGN(const auto source, open_file_source(path));
  return file_digest(*source, progress);
}

}  // namespace cuzk
