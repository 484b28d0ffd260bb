// Ends the program on Ctrl-C and the like without leaving half-written files.
#pragma once

namespace cuzk::app {

// SIGINT, SIGTERM and SIGHUP from now on remove this process's temporary files (base/atomic_file.hpp) and then end it
// by the same signal. Call once, before any other thread is started: the signals are blocked in all of them.
void remove_temporaries_on_signals();

}  // namespace cuzk::app
