#include "hearth/comm/world.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <optional>
#include <string_view>

#include "hearth/base/check.h"
#include "hearth/base/environment.h"
#include "hearth/base/split.h"
#include "hearth/base/whole_number.h"
#include "hearth/comm/socket.h"

namespace hearth::comm {
namespace {

struct Variable {
  std::string name;
  int value = 0;
};

using Names = std::initializer_list<const char*>;
constexpr Names kRank = {"RANK", "PMI_RANK", "OMPI_COMM_WORLD_RANK", "MV2_COMM_WORLD_RANK", "PMIX_RANK"};
constexpr Names kSize = {"WORLD_SIZE", "PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "MV2_COMM_WORLD_SIZE"};
constexpr Names kLocalRank = {"LOCAL_RANK", "MPI_LOCALRANKID", "OMPI_COMM_WORLD_LOCAL_RANK",
                              "MV2_COMM_WORLD_LOCAL_RANK"};
constexpr Names kLocalSize = {"LOCAL_WORLD_SIZE", "MPI_LOCALNRANKS", "OMPI_COMM_WORLD_LOCAL_SIZE",
                              "MV2_COMM_WORLD_LOCAL_SIZE"};

std::optional<Variable> first_of(Names names, int least) {
  for (const char* name : names) {
    const std::string text = environment(name);
    if (text.empty()) continue;
    const std::optional<int> value = whole_number<int>(text);
    check(value && *value >= least, "[comm] {}={} is not a whole number of at least {}; the launcher should set it",
          name, text, least);
    return Variable{name, *value};
  }
  return std::nullopt;
}

// Whether srun started this process. In an sbatch script or a salloc shell the other Slurm variables are set as well,
// but SLURM_STEP_ID is unset or one of the ids reserved for such steps.
bool started_by_srun() {
  const std::string step = environment("SLURM_STEP_ID");
  return !step.empty() && whole_number<int>(step).has_value();  // reserved ids are beyond 2^31
}

// "4,2(x3)": four processes on the first host, two on each of the next three.
std::optional<int> slurm_local_size() {
  int node = whole_number<int>(environment("SLURM_NODEID")).value_or(-1);
  if (node < 0) return std::nullopt;
  for (const std::string& item : split(environment("SLURM_STEP_TASKS_PER_NODE"), ',')) {
    const std::size_t times = item.find("(x");
    const bool repeated = times != item.npos && item.ends_with(')');
    const int hosts = repeated ? whole_number<int>(item.substr(times + 2, item.size() - times - 3)).value_or(1) : 1;
    if (node < hosts) return whole_number<int>(item.substr(0, times));
    node -= hosts;
  }
  return std::nullopt;
}

bool is_set(const char* name) { return !environment(name).empty(); }

// Intel's hydra sets I_MPI_HYDRA_UUID for its processes; users set the other I_MPI_* variables, too. MPICH's hydra sets
// PMI_* only.
Launcher launcher() {
  if (is_set("OMPI_COMM_WORLD_SIZE")) return Launcher::openmpi;
  if (is_set("MV2_COMM_WORLD_SIZE")) return Launcher::mvapich;
  if (is_set("PMI_SIZE")) return is_set("I_MPI_HYDRA_UUID") ? Launcher::intel : Launcher::mpich;
  if (is_set("PMIX_RANK")) return Launcher::pmix;
  if (started_by_srun()) return Launcher::slurm;
  return is_set("WORLD_SIZE") ? Launcher::environment : Launcher::none;
}

// If only RANK, WORLD_SIZE and MASTER_* are set: with a MASTER_ADDR that is no loopback address, assume one process per
// host.
bool is_alone_on_host(const World& world) {
  const std::string meeting_place = environment("MASTER_ADDR");
  if (world.launcher != Launcher::environment || meeting_place.empty()) return false;
  try {
    return !is_loopback(meeting_place);
  } catch (const Error&) {  // MASTER_ADDR cannot be resolved; connecting will report that
    return false;
  }
}

}  // namespace

std::string host_name() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

std::vector<std::string> world_variables() {
  std::vector<std::string> variables;
  for (const auto& names : {kRank, kSize, kLocalRank, kLocalSize})
    if (const auto found = std::ranges::find_if(names, is_set); found != names.end()) variables.emplace_back(*found);
  if (started_by_srun()) variables.emplace_back("SLURM_PROCID");
  return variables;
}

World world_from_environment() {
  auto rank = first_of(kRank, 0), size = first_of(kSize, 1);
  auto local_rank = first_of(kLocalRank, 0), local_size = first_of(kLocalSize, 1);
  if (started_by_srun()) {
    if (!rank) rank = first_of({"SLURM_PROCID"}, 0);
    if (!size) size = first_of({"SLURM_NTASKS"}, 1);
    if (!local_rank) local_rank = first_of({"SLURM_LOCALID"}, 0);
    if (const auto here = slurm_local_size(); here && !local_size)
      local_size = Variable{"SLURM_STEP_TASKS_PER_NODE", *here};
  }
  World world;
  world.launcher = launcher();
  if (!rank && (!size || size->value == 1)) return world;
  check(size.has_value(), "[comm] {} is set but the number of processes is not: set WORLD_SIZE too",
        rank ? rank->name : "");
  check(rank.has_value(), "[comm] {} is set but the rank of this process is not: set RANK too", size->name);
  check(rank->value < size->value, "[comm] {}={} must be below {}={}", rank->name, rank->value, size->name,
        size->value);
  world.rank = rank->value;
  world.size = size->value;
  world.local_size = local_size ? local_size->value : is_alone_on_host(world) && !local_rank ? 1 : world.size;
  check(world.local_size <= world.size, "[comm] {}={} is more than {}={}", local_size ? local_size->name : "",
        world.local_size, size->name, world.size);
  world.local_rank = local_rank ? local_rank->value : world.rank % world.local_size;
  check(world.local_rank < world.local_size, "[comm] {}={} must be below the number of processes on this host, {}",
        local_rank ? local_rank->name : "", world.local_rank, world.local_size);
  return world;
}

// Intel's mpirun is a script that sets I_MPI_MPIRUN and calls the first mpiexec.hydra of the PATH.
std::string launcher_advice(const World& world) {
  if (world.launcher != Launcher::mpich || !is_set("I_MPI_MPIRUN")) return "";
  return "Intel's mpirun found MPICH's mpiexec.hydra first in the PATH, so this job runs under MPICH: put Intel's "
         "folder first, as `hearth env --setvars` prints it";
}

}  // namespace hearth::comm
