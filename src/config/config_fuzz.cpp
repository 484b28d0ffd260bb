// Any text is a configuration or is refused with findings; what is printed of a configuration is read as the same.
#include <algorithm>
#include <string>

#include "base/assert.hpp"
#include "config/load.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace cuzk;
  ConfigSources sources;
  sources.file_name = "fuzzed.toml";
  sources.file_text.assign(reinterpret_cast<const char*>(data), size);
  const LoadedConfig loaded = load_config(sources);
  const auto& findings = loaded.findings;
  CUZK_ASSERT(std::all_of(findings.begin(), findings.end(), [](const ConfigFinding& f) { return !f.message.empty(); }));
  if (!loaded.ok()) return 0;
  ConfigSources printed;
  printed.file_name = "printed.toml";
  printed.file_text = print_config(loaded, false);
  const LoadedConfig again = load_config(printed);
  CUZK_ASSERT(again.ok() && again.values == loaded.values);
  return 0;
}
