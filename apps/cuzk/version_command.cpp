#include "cuzk/command_line.hpp"
#include "cuzk/version.hpp"
#include "parallel/parallel.hpp"

namespace cuzk::app {

void add_version_command(CommandLine& line) {
  line.add(nullptr, "version", "Tells the version and how it was built", "  cuzk version\n  cuzk version --json\n",
           [](Console&) -> Result<Outcome> {
             Outcome outcome;
             outcome.text = std::string("cuzk ") + kVersion + " (" + kBuildType + ", " + kCompiler + ", backends: cpu)";
             outcome.json = {{"version", kVersion},
                             {"build_type", kBuildType},
                             {"compiler", kCompiler},
                             {"backends", {"cpu"}},
                             {"threads", parallel_threads()}};
             return outcome;
           });
}

}  // namespace cuzk::app
