// `cuzk worker`: the process that a daemon starts for each of its devices. Not in the help, since nobody calls it.
#pragma once

#include <string>
#include <vector>

namespace cuzk::app {

// True where the command line is a worker's. It must not be treated as that of other commands is: the worker decides
// itself what signals mean to it.
bool is_worker_command(int argc, char** argv);
// Serves the daemon until it is gone; the exit status.
int run_worker_command(int argc, char** argv);

// This process's environment, for WorkerProcessOptions.
std::vector<std::string> environment();

}  // namespace cuzk::app
