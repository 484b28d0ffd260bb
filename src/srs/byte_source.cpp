#include "srs/byte_source.hpp"

#include <cstring>
#include <utility>

#include "base/random_access_file.hpp"

namespace cuzk {
namespace {

class FileSource final : public ByteSource {
 public:
  explicit FileSource(RandomAccessFile file) : file_(std::move(file)) {}

  uint64_t size() const override { return file_.size(); }
  const std::string& name() const override { return file_.path(); }
  Status read(uint64_t offset, std::span<uint8_t> out) const override { return file_.read_at(offset, out); }
  Status check_unchanged() const override { return file_.check_unchanged(); }

 private:
  RandomAccessFile file_;
};

}  // namespace

Result<std::unique_ptr<ByteSource>> open_file_source(const std::string& path) {
  CUZK_ASSIGN(RandomAccessFile file, RandomAccessFile::open(path));
  return std::unique_ptr<ByteSource>(new FileSource(std::move(file)));
}

Status MemorySource::read(uint64_t offset, std::span<uint8_t> out) const {
  if (offset > bytes_.size() || bytes_.size() - offset < out.size()) {
    return Error(ErrorClass::kCorrupt, "the input ends early").at_offset(bytes_.size());
  }
  if (!out.empty()) std::memcpy(out.data(), bytes_.data() + offset, out.size());
  return {};
}

}  // namespace cuzk
