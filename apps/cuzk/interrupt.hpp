// Ends the program on Ctrl-C and the like without leaving half-written files.
#pragma once

#include <functional>

namespace cuzk::app {

// SIGINT, SIGTERM and SIGHUP from now on remove this process's temporary files (base/atomic_file.hpp) and then end it
// by the same signal. Call once, before any other thread is started: the signals are blocked in all of them.
void remove_temporaries_on_signals();

// From now on these signals come to `handler` first, on a thread of their own; where it returns false, or is none, the
// program ends as above. Waits until a call of the handler before has returned.
void handle_signals(std::function<bool(int number)> handler);

}  // namespace cuzk::app
