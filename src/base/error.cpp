#include "base/error.hpp"

namespace cuzk {

std::string Error::describe() const {
  std::string out = message;
  std::string where;
  auto add = [&where](const char* name, const std::string& value) {
    where += where.empty() ? " (" : ", ";
    where += name;
    where += ' ';
    where += value;
  };
  if (!field.empty()) add("field", field);
  if (!file.empty()) add("file", file);
  if (offset) add("offset", std::to_string(*offset));
  if (sector) add("sector", std::to_string(*sector));
  if (partition) add("partition", std::to_string(*partition));
  if (!where.empty()) out += where + ")";
  return out;
}

}  // namespace cuzk
