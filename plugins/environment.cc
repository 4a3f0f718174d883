#include "plugins/environment.h"

#include <dlfcn.h>
#include <link.h>

#include <cstdlib>
#include <filesystem>
#include <set>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace hearth::plugins {
namespace {

namespace fs = std::filesystem;

bool is_set(const char* variable) { return std::getenv(variable) != nullptr; }

// Intel's mpirun is a script that may start another MPI's launcher, so Intel is known by its launcher, hydra.
std::string launcher() {
  if (is_set("OMPI_COMM_WORLD_SIZE")) return "openmpi";
  if (!is_set("PMI_RANK") || !is_set("PMI_FD")) return "";
  return is_set("I_MPI_HYDRA_UUID") ? "intel" : "mpich";
}

std::string in_words(const std::string& mpi) {
  if (mpi == "openmpi") return "Open MPI's mpirun";
  if (mpi == "intel") return "Intel's mpirun";
  return mpi == "mpich" ? "MPICH's mpirun" : "no mpirun";
}

std::string first_existing(const fs::path& root, std::initializer_list<const char*> places) {
  for (const char* place : places) {
    std::error_code none;
    if (fs::exists(root / place, none)) return (root / place).string();
  }
  return "";
}

// The file of the library that has `symbol`.
std::string library_of(const void* symbol) {
  Dl_info found{};
  return dladdr(symbol, &found) != 0 ? fs::weakly_canonical(found.dli_fname).string() : "";
}

bool is_mpi(std::string_view file) {
  file.remove_prefix(file.rfind('/') + 1);
  return file.starts_with("libmpi.so") || file.starts_with("libmpich.so");
}

}  // namespace

bool started_by(const std::string& mpi) { return launcher() == mpi; }

std::string launcher_name() { return in_words(launcher()); }

void refuse_other_launchers(const std::string& name, const std::string& own) {
  if (launcher().empty() || launcher() == own) return;
  throw std::runtime_error("this process was started by " + launcher_name() + ", which " + name +
                           " does not understand: start it with " + in_words(own));
}

std::vector<std::string> loaded_mpis() {
  std::vector<std::string> found;
  dl_iterate_phdr(
      [](dl_phdr_info* library, std::size_t, void* context) {
        if (is_mpi(library->dlpi_name)) static_cast<std::vector<std::string>*>(context)->push_back(library->dlpi_name);
        return 0;
      },
      &found);
  return found;
}

void refuse_two_mpis() {
  const std::vector<std::string> held = loaded_mpis();
  if (held.size() < 2) return;
  throw std::runtime_error(
      "this process holds " + held[0] + " and " + held[1] +
      ": a process can use only one MPI library; find out what loads the other, LD_PRELOAD for instance");
}

void make_global(const void* symbol) { dlopen(library_of(symbol).c_str(), RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD); }

void set_default(const char* variable, const std::string& value) { setenv(variable, value.c_str(), 0); }

IntelMpi find_intel_mpi(const void* symbol) {
  std::vector<fs::path> roots;
  if (const char* root = std::getenv("I_MPI_ROOT")) roots.emplace_back(root);
  roots.push_back(fs::path(library_of(symbol)).parent_path().parent_path());
  if (const char* environment = std::getenv("VIRTUAL_ENV")) roots.emplace_back(environment);
  roots.emplace_back("/opt/intel/oneapi/mpi/latest");
  for (const fs::path& root : roots) {
    const std::string mpi = first_existing(root, {"lib/libmpi.so.12", "lib/release/libmpi.so.12"});
    const std::string fabric = first_existing(
        root, {"lib/libfabric.so.1", "opt/mpi/libfabric/lib/libfabric.so.1", "libfabric/lib/libfabric.so.1"});
    if (mpi.empty() || fabric.empty()) continue;
    const fs::path folder = fs::path(fabric).parent_path();
    set_default("I_MPI_ROOT", root);
    set_default("FI_PROVIDER_PATH", fs::exists(folder / "prov") ? folder / "prov" : folder);
    set_default("I_MPI_OFI_LIBRARY", fabric);
    return {mpi, fabric};
  }
  return {};
}

std::string shell_variables(const void* symbol) {
  const IntelMpi mpi = find_intel_mpi(symbol);
  if (mpi.library.empty()) return "";
  const std::string root = std::getenv("I_MPI_ROOT");
  std::set<std::string> folders;
  for (const std::string& file : {library_of(symbol), mpi.library, mpi.fabric}) {
    folders.insert(fs::path(file).parent_path());
  }
  std::string libraries;
  for (const std::string& folder : folders) libraries += folder + ":";
  libraries.pop_back();
  return "export I_MPI_ROOT='" + root + "'\n" +                                                 //
         "export FI_PROVIDER_PATH='" + std::getenv("FI_PROVIDER_PATH") + "'\n" +                //
         "export LD_LIBRARY_PATH='" + libraries + "'${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}\n" +  //
         "export PATH='" + root + "/bin':$PATH\n";
}

}  // namespace hearth::plugins
