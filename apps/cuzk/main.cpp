#include "base/operator_new.hpp"
#include "cuzk/command_line.hpp"
#include "cuzk/interrupt.hpp"
#include "cuzk/memory.hpp"
#include "cuzk/worker_command.hpp"
#if CUZK_DAEMON
#include "cuzk/daemon/daemon_commands.hpp"
#endif

int main(int argc, char** argv) {
  cuzk::app::return_freed_memory();
  if (cuzk::app::is_worker_command(argc, argv)) return cuzk::app::run_worker_command(argc, argv);
  cuzk::app::remove_temporaries_on_signals();
  std::vector<std::string> arguments(argv, argv + argc);
  if (arguments.empty()) arguments = {"cuzk"};  // execve allows it
  cuzk::app::CommandLine line;
  cuzk::app::add_setup_command(line);
  cuzk::app::add_prove_command(line);
  cuzk::app::add_verify_command(line);
  cuzk::app::add_params_commands(line);
  cuzk::app::add_circuit_commands(line);
  cuzk::app::add_plan_command(line);
  cuzk::app::add_doctor_command(line);
  CLI::App* bench = cuzk::app::add_bench_commands(line);
  cuzk::app::add_version_command(line);
#if CUZK_DAEMON
  cuzk::app::add_serve_command(line);
  cuzk::app::add_config_commands(line);
  cuzk::app::add_job_commands(line);
  cuzk::app::add_control_commands(line);
  cuzk::app::add_bench_client_commands(line, bench);
  arguments = cuzk::app::as_ours(std::move(arguments));
#else
  (void)bench;
#endif
  return line.run(arguments);
}
