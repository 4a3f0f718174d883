#pragma once

#include <string_view>

// The words of commands for other programs. A program may be given with its path.
namespace hearth::migrate {

std::string_view file_name(std::string_view path);

bool is_python(std::string_view program);
bool is_hearth(std::string_view program);
bool is_torchrun(std::string_view program);
bool is_accelerate(std::string_view program);  // accelerate, accelerate-launch
bool is_shell(std::string_view program);
bool is_installer(std::string_view program);            // of Python packages and environments
bool is_wrapper(std::string_view program);              // starts another program: mpirun, numactl, nohup
bool is_foreign_launcher(std::string_view program);     // that Hearth's ranks cannot join
bool has_environment_runner(std::string_view program);  // its command `run` starts another one: conda, poetry

bool is_script(std::string_view word);      // of Python
bool is_starter(std::string_view word);     // python3, torchrun, ipexrun, accelerate, hearth, or a script
bool is_assignment(std::string_view word);  // A=1

}  // namespace hearth::migrate
