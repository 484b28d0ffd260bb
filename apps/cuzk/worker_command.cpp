#include "cuzk/worker_command.hpp"

#include <unistd.h>

#include <exception>
#include <string_view>

#include "cuzk/console.hpp"
#include "cuzk/exit_status.hpp"
#include "worker/worker_main.hpp"

namespace cuzk::app {
namespace {

// What the worker's options are, after the name of the program and of the command.
constexpr int kFirstOption = 2;

Result<int> run(const std::vector<std::string>& arguments) {
  CUZK_ASSIGN(const WorkerOptions options, read_arguments(arguments));
  return worker_main(options);
}

}  // namespace

bool is_worker_command(int argc, char** argv) { return argc > 1 && std::string_view(argv[1]) == "worker"; }

int run_worker_command(int argc, char** argv) {
  // Whatever is told here goes to the daemon's log.
  Console console("worker", {.quiet = true});
  try {
    const Result<int> status = run({argv + kFirstOption, argv + argc});
    return status.ok() ? *status : console.finish(status.error());
  } catch (const std::exception& exception) {
    return console.finish(Error(ErrorClass::kInternal, std::string("unexpected: ") + exception.what()));
  }
}

std::vector<std::string> environment() {
  std::vector<std::string> out;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) out.emplace_back(*variable);
  return out;
}

}  // namespace cuzk::app
