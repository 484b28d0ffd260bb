#include "base/mapped_file.hpp"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#include "base/random_access_file.hpp"

namespace cuzk {

Result<std::shared_ptr<const MappedFile>> MappedFile::open(const std::string& path) {
  CUZK_ASSIGN(const RandomAccessFile file, RandomAccessFile::open(path));
  const auto size = static_cast<size_t>(file.size());
  void* data = nullptr;  // nothing can be mapped of an empty file
  if (size > 0) {
    data = mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, file.descriptor(), 0);
    if (data == MAP_FAILED) {
      return Error(errno == ENOMEM || errno == EAGAIN ? ErrorClass::kResource : ErrorClass::kIo,
                   std::string("cannot map the file: ") + std::strerror(errno))
          .in_file(path);
    }
  }
  return std::shared_ptr<const MappedFile>(new MappedFile(static_cast<const uint8_t*>(data), size));
}

MappedFile::~MappedFile() {
  if (size_ > 0) munmap(const_cast<uint8_t*>(data_), size_);
}

}  // namespace cuzk
