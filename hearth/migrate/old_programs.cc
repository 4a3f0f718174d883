#include "hearth/migrate/old_programs.h"

#include <algorithm>
#include <cctype>
#include <initializer_list>

namespace hearth::migrate {
namespace {

bool is_one_of(std::string_view program, std::initializer_list<std::string_view> names) {
  return std::ranges::find(names, file_name(program)) != names.end();
}

}  // namespace

std::string_view file_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// Also $(which python3), `which python` and $PYTHON.
bool is_python(std::string_view program) {
  const bool is_expansion = program.starts_with('$') || program.starts_with('`');
  if (is_expansion) return program.find("python") != program.npos || program.find("PYTHON") != program.npos;
  program = file_name(program);
  return program.starts_with("python") && program.find_first_not_of("0123456789.", 6) == program.npos;
}

bool is_hearth(std::string_view program) { return is_one_of(program, {"hearth"}); }

bool is_torchrun(std::string_view program) { return is_one_of(program, {"torchrun"}); }

bool is_accelerate(std::string_view program) { return is_one_of(program, {"accelerate", "accelerate-launch"}); }

bool is_shell(std::string_view program) { return is_one_of(program, {"bash", "sh", "dash", "zsh"}); }

bool is_installer(std::string_view program) {
  return is_one_of(program, {"pip", "pip3", "conda", "mamba", "micromamba"});
}

bool is_wrapper(std::string_view program) {
  return is_one_of(program,
                   {"mpirun",          "mpiexec", "mpiexec.hydra", "mpirun.mpich", "mpiexec.mpich", "mpirun.openmpi",
                    "mpiexec.openmpi", "orterun", "prterun",       "srun",         "numactl",       "taskset",
                    "nohup",           "nice",    "ionice",        "timeout",      "env",           "sudo",
                    "stdbuf",          "setsid",  "exec",          "ssh"});
}

bool is_foreign_launcher(std::string_view program) {
  return is_one_of(program, {"deepspeed", "horovodrun", "composer", "colossalai"});
}

bool has_environment_runner(std::string_view program) {
  return is_one_of(program, {"conda", "mamba", "micromamba", "poetry", "pipenv", "uv"});
}

bool is_script(std::string_view word) { return word.ends_with(".py"); }

bool is_starter(std::string_view word) {
  return is_python(word) || is_torchrun(word) || is_one_of(word, {"ipexrun"}) || is_accelerate(word) ||
         is_hearth(word) || is_script(word);
}

bool is_assignment(std::string_view word) {
  const std::size_t equals = word.find('=');
  if (equals == word.npos || equals == 0 || std::isdigit(static_cast<unsigned char>(word[0]))) return false;
  return std::ranges::all_of(word.substr(0, equals),
                             [](char c) { return c == '_' || std::isalnum(static_cast<unsigned char>(c)); });
}

}  // namespace hearth::migrate
