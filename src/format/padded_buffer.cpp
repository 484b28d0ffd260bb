#include "format/padded_buffer.hpp"

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

namespace cuzk {
namespace {

struct FileCloser {
  void operator()(std::FILE* f) const { std::fclose(f); }
};

std::string errno_text() { return std::generic_category().message(errno); }

}  // namespace

Result<PaddedBuffer> read_file_padded(const std::string& path, uint64_t max_bytes) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return Error(ErrorClass::kIo, "is a directory").in_file(path);
  const std::unique_ptr<std::FILE, FileCloser> file(std::fopen(path.c_str(), "rb"));
  if (!file) {
    const ErrorClass error_class = errno == ENOENT ? ErrorClass::kNotFound : ErrorClass::kIo;
    return Error(error_class, "cannot open: " + errno_text()).in_file(path);
  }
  if (std::fseek(file.get(), 0, SEEK_END) != 0)
    return Error(ErrorClass::kIo, "cannot seek: " + errno_text()).in_file(path);
  const long size = std::ftell(file.get());
  if (size < 0) return Error(ErrorClass::kIo, "cannot tell the size: " + errno_text()).in_file(path);
  if (static_cast<uint64_t>(size) > max_bytes) {
    return Error(ErrorClass::kInvalidInput,
                 "file of " + std::to_string(size) + " bytes, at most " + std::to_string(max_bytes) + " are read")
        .in_file(path);
  }
  std::rewind(file.get());
  PaddedBuffer buffer(static_cast<size_t>(size));
  if (std::fread(buffer.data(), 1, buffer.size(), file.get()) != buffer.size()) {
    return Error(ErrorClass::kIo, "cannot read all " + std::to_string(size) + " bytes").in_file(path);
  }
  return buffer;
}

}  // namespace cuzk
