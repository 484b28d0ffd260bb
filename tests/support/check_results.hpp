// What programs that compare a device with the CPU leave behind.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace cuzk::test {

// Writes {"chip": .., "wrong": .., "circuits": [the lines, each a JSON object]}. Errors: kIo.
inline Status write_check_results(const std::string& path, const std::string& chip, uint64_t wrong,
                                  const std::vector<std::string>& lines) {
  std::FILE* file = std::fopen(path.c_str(), "w");
  if (file == nullptr) return Error(ErrorClass::kIo, "cannot write " + path);
  std::fprintf(file, "{\n  \"chip\": \"%s\",\n  \"wrong\": %llu,\n  \"circuits\": [\n", chip.c_str(),
               static_cast<unsigned long long>(wrong));
  for (size_t i = 0; i < lines.size(); ++i) {
    std::fprintf(file, "    %s%s\n", lines[i].c_str(), i + 1 < lines.size() ? "," : "");
  }
  std::fprintf(file, "  ]\n}\n");
  std::fclose(file);
  return {};
}

}  // namespace cuzk::test
