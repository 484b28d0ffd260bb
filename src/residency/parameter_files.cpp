#include "residency/parameter_files.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include "srs/params_file.hpp"

namespace cuzk {
namespace {

// A verifying key begins with an x below p, whose first byte is at most 0x1a: never a letter or a bracket.
Status check_no_text(const std::string& path) {
  CUZK_ASSIGN(const auto source, open_file_source(path));
  if (source->size() == 0) return Error(ErrorClass::kCorrupt, "the file is empty").in_file(path);
  std::vector<uint8_t> head(std::min<uint64_t>(64, source->size()));
  CUZK_TRY(source->read(0, head));
  const auto printable = [](uint8_t c) { return (c >= 0x20 && c < 0x7f) || c == '\n' || c == '\r' || c == '\t'; };
  if (!std::all_of(head.begin(), head.end(), printable)) return {};
  const std::string_view text(reinterpret_cast<const char*>(head.data()), head.size());
  const size_t first = text.find_first_not_of(" \t\r\n");
  const bool markup = first != std::string_view::npos && text[first] == '<';
  return Error(ErrorClass::kCorrupt, markup ? "a web page (HTML or XML), not parameters: what a failed download left"
                                            : "text, not parameters")
      .in_file(path);
}

}  // namespace

ParameterFiles parameter_files(const CircuitSpec& circuit, const std::string& directory) {
  std::string stem = directory;
  if (!stem.empty() && stem.back() != '/') stem += '/';
  stem += circuit.parameter_file_stem();
  return {directory, stem + ".params", stem + ".vk"};
}

Status check_parameter_head(const CircuitSpec& circuit, const std::string& path) {
  CUZK_TRY(check_no_text(path));
  CUZK_TRY(inspect_params(path, circuit.counts().srs_shape()));
  CUZK_TRY(read_params_vk(path));
  return {};
}

}  // namespace cuzk
