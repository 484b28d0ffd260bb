// What tells that a file is still the one that was looked at, without reading it.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.hpp"

namespace cuzk {

// Any write, rename or replacement changes the time of the last change of the inode, which programs cannot set. No
// device number: those of network and loop file systems change from boot to boot.
struct FileStamp {
  uint64_t bytes = 0;
  uint64_t inode = 0;
  int64_t modified_ns = 0, changed_ns = 0;

  friend bool operator==(const FileStamp&, const FileStamp&) = default;
};

// Of the file that `path` leads to. Errors, with the path: kNotFound, kIo, kCorrupt where it is no regular file.
Result<FileStamp> file_stamp(const std::string& path);

// Times come from a clock that ticks every few milliseconds: of two writes within a tick the second would go unseen.
// Waits, 20 ms at most, until no write from now on can leave the stamp as it is.
void let_stamp_settle(const FileStamp& stamp);

}  // namespace cuzk
