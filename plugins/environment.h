#pragma once

#include <string>
#include <vector>

// Finds the libraries behind the plug-ins, and the launcher that started this process.
namespace hearth::plugins {

// Whether the launcher of this MPI (mpich, intel, openmpi) started this process.
bool started_by(const std::string& mpi);
// The launcher's name for messages: "MPICH's mpirun".
std::string launcher_name();

// Throws if this process was started by the mpirun of another MPI than `launcher`; `name` is used in the message.
void refuse_other_launchers(const std::string& name, const std::string& launcher);
std::vector<std::string> loaded_mpis();  // the MPI libraries loaded into this process, by file
void refuse_two_mpis();

// Makes the symbols of the library that has `symbol` visible to libraries that are loaded later.
void make_global(const void* symbol);

// Sets an environment variable of this process, unless the user has set it.
void set_default(const char* variable, const std::string& value);

// Finds Intel MPI in I_MPI_ROOT, beside the library that has `symbol`, in VIRTUAL_ENV or in oneAPI's folder. Sets the
// variables with which Intel MPI finds itself, libfabric and its providers, unless the user has set them.
struct IntelMpi {
  std::string library, fabric;  // files; empty if not found
};
IntelMpi find_intel_mpi(const void* symbol);
// Shell commands with which other programs find Intel MPI and the library that has `symbol`.
std::string shell_variables(const void* symbol);

}  // namespace hearth::plugins
