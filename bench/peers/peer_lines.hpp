// The lines that a comparison leaves: one JSON object each, printed and in a file, at once.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>

namespace cuzk::peers {

inline std::string number(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", x);
  return text;
}

class Lines {
 public:
  // Null: no file.
  explicit Lines(const char* path) {
    if (path == nullptr) return;
    file_ = std::fopen(path, "w");
    if (file_ != nullptr) return;
    std::perror(path);
    std::exit(2);
  }
  ~Lines() {
    if (file_ != nullptr) std::fclose(file_);
  }
  Lines(const Lines&) = delete;
  Lines& operator=(const Lines&) = delete;
  void add(const std::string& line) {
    for (std::FILE* out : {stdout, file_}) {
      if (out == nullptr) continue;
      std::fprintf(out, "%s\n", line.c_str());
      std::fflush(out);
    }
  }

 private:
  std::FILE* file_ = nullptr;
};

}  // namespace cuzk::peers
