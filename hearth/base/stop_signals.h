#pragma once

#include <string>

// The signals by which people and schedulers stop a program: SIGINT, SIGTERM, SIGHUP and SIGUSR1.
namespace hearth {

// From now on the first of these signals is only noted, so that the program can save its work and end. Another one a
// second later has the effect that it had before: by default it ends the process. Signals that the process ignores
// (nohup) stay ignored. Further calls have no effect.
void catch_stop_signals();
int caught_stop_signal();  // 0: none
// The signals have the effect again that they had before: by default, or that of the program around Hearth, such as
// Python. The one that was noted, if any, has it at once.
void release_stop_signals();

std::string name_of_signal(int signal);  // "SIGTERM"

}  // namespace hearth
