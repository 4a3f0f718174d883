#pragma once

namespace hearth {

// Exit statuses of the program, which scripts and launchers may rely on. docs/reliability.md lists them.
inline constexpr int kFailureStatus = 1;
inline constexpr int kUsageStatus = 2;         // wrong command line or file of options
inline constexpr int kNotFiniteStatus = 3;     // training stopped at a NaN or an infinity
inline constexpr int kInterruptedStatus = 75;  // a signal stopped training after a checkpoint; the same command resumes

}  // namespace hearth
