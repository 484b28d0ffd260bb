// Digests of files that were read once, so that 44 GiB need not be read at every start.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "residency/file_stamp.hpp"

namespace cuzk {

// In the file "digests" of a folder:
//
//   cuzk-digests 1
//   <digest> <bytes> <inode> <modified ns> <changed ns> <path>     a line each, sorted by path
//   sha256 <of all lines before>
//
// A digest is a fact about a file, good or bad; whether it is the right one is the caller's question. A file that is
// damaged in any way counts as absent and is written anew. Thread safe; two processes may lose each other's newest
// digest, which is then made again.
class RememberedDigests {
 public:
  explicit RememberedDigests(std::string directory) : directory_(std::move(directory)) {}

  // The digest of the file of that path while its stamp was this one.
  std::optional<std::string> find(const std::string& path, const FileStamp& stamp) const;

  // Replaces what was known of that path. Errors: kIo; those of AtomicFile. Nothing is done where there is no folder,
  // or for a path with a line feed.
  Status remember(const std::string& path, const FileStamp& stamp, std::string_view digest);

  std::string file() const { return directory_ + "/digests"; }

 private:
  struct Entry {
    FileStamp stamp;
    std::string digest;
  };
  using Entries = std::map<std::string, Entry, std::less<>>;  // by absolute path
  Entries read() const;

  const std::string directory_;  // empty: nothing is remembered
  mutable std::mutex mutex_;
};

}  // namespace cuzk
