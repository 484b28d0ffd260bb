#include "cuzk/bench_commands.hpp"

namespace cuzk::app {

CLI::App* add_bench_commands(CommandLine& line) {
  CLI::App* bench = line.add_group("bench", "Makes inputs to prove, and measures a daemon");
  CLI::App* gen = line.add_group("gen-vanilla", "Makes vanilla proofs: from sector files, or without a sector", bench);
  add_gen_vanilla_post(line, gen);
  add_gen_vanilla_snap(line, gen);
  add_gen_vanilla_porep(line, gen);
  add_seal_commands(line, bench);
  return bench;
}

}  // namespace cuzk::app
