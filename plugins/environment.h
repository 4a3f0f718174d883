#pragma once

#include <string>
#include <vector>

// Where the libraries behind the plug-ins lie and who started this process.
namespace hearth::plugins {

// Whether the launcher of this MPI (mpich, intel, openmpi) started this process.
bool started_by(const std::string& mpi);
// The launcher's name for a sentence: "MPICH's mpirun".
std::string launcher_name();

// Throws where a program of the MPI `launcher` was started by another's mpirun; `name` is its name in the sentence.
void refuse_other_launchers(const std::string& name, const std::string& launcher);
std::vector<std::string> loaded_mpis();  // the files of MPI libraries in this process
void refuse_two_mpis();

// For this process, where the user has not set it.
void set_default(const char* variable, const std::string& value);

// Finds Intel MPI where the library of `symbol` lies, in I_MPI_ROOT, VIRTUAL_ENV or oneAPI's own folder, and tells it,
// where the user has not, where it lies itself and where libfabric and its providers are.
struct IntelMpi {
  std::string library, fabric;  // files; empty where there is none
};
IntelMpi find_intel_mpi(const void* symbol);
// What a shell sources so that other programs find Intel MPI too, and the library of `symbol`.
std::string shell_variables(const void* symbol);

}  // namespace hearth::plugins
