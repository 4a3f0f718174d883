#include "hearth/launch/plan/mpirun_command.h"

#include <unistd.h>

#include "hearth/base/check.h"
#include "hearth/base/environment.h"
#include "hearth/base/whole_number.h"
#include "hearth/launch/plan/target.h"
#include "hearth/launch/start/environment_contract.h"
#include "hearth/launch/start/process.h"

namespace hearth::launch {
namespace {

using Words = std::vector<std::string>;

void append(Words& words, const Words& more) { words.insert(words.end(), more.begin(), more.end()); }

// The command line of each rank's launcher. It has every setting, so no launch file on its host is read.
Words rank_launcher(const LaunchPlan& plan, const LaunchOptions& options) {
  const ScriptSettings& script = plan.script;
  Words words{own_program(), "launch", "--quiet", "--no_config_file"};
  const auto add = [&](const char* flag, const auto& value) { append(words, {flag, fmt::format("{}", value)}); };
  const auto add_if_given = [&](const char* flag, const auto& value) {
    if (value) add(flag, *value);
  };
  const auto add_switch = [&](const char* flag, bool on) {
    if (on) words.emplace_back(flag);
  };
  add("--num_processes", plan.num_processes);
  if (!plan.main_ip.empty()) add("--main_process_ip", plan.main_ip);
  add("--main_process_port", plan.main_port);
  add_if_given("--ccl_worker_count", plan.communication_threads);
  add_if_given("--num_cpu_threads_per_process", plan.request.threads);
  add_if_given("--ncores_per_instance", options.ncores_per_instance);
  add_if_given("--nodes_list", options.nodes_list);
  add_if_given("--cores_list", options.cores_list);
  add_switch("--use_logical_cores", options.use_logical_cores);
  add("--memory_allocator", name_of(options.memory_allocator));
  add("--mixed_precision", script.mixed_precision);
  add_switch("--ipex", script.ipex);
  add_switch("--debug", script.debug);
  add_switch("--enable_cpu_affinity", script.cpu_affinity);
  add("--dynamo_backend", script.dynamo_backend);
  add("--dynamo_mode", script.dynamo_mode);
  add_switch("--dynamo_use_fullgraph", script.dynamo_fullgraph);
  add_switch("--dynamo_use_dynamic", script.dynamo_dynamic);
  add_switch("--dynamo_use_regional_compilation", script.dynamo_regional);
  words.emplace_back("--no_python");
  return words;
}

// Open MPI passes only named variables on to other hosts.
Words exported_variables() {
  Words words{"-x", "PATH", "-x", std::string(kTokenVariable)};
  for (const EnvironmentVariable& variable : environment_variables())
    if (variable.name != kTokenVariable && std::string_view(variable.name) != "HOME" &&
        !environment(variable.name).empty())
      append(words, {"-x", variable.name});
  return words;
}

Words openmpi_flags(const LaunchPlan& plan) {
  Words words;
  if (geteuid() == 0) words.emplace_back("--allow-run-as-root");
  if (plan.hostfile) append(words, {"--hostfile", *plan.hostfile});
  // Each rank's launcher binds it.
  append(words, {"--npernode", std::to_string(plan.local_processes), "-n", std::to_string(plan.num_processes),
                 "--bind-to", "none", "--oversubscribe", "--tag-output"});
  append(words, exported_variables());
  return words;
}

Words hydra_flags(const LaunchPlan& plan, MpiKind kind) {
  Words words;
  if (plan.hostfile) append(words, {"-f", *plan.hostfile});
  append(words,
         {"-ppn", std::to_string(plan.local_processes), "-n", std::to_string(plan.num_processes), "-prepend-rank"});
  if (kind == MpiKind::intel) append(words, {"-genv", "I_MPI_PIN", "0"});
  return words;
}

}  // namespace

MpiKind kind_of_mpirun(std::string_view version) {
  for (const std::string_view name : {"Open MPI", "OpenRTE", "open-mpi"})
    if (version.find(name) != version.npos) return MpiKind::openmpi;
  return version.find("Intel") != version.npos ? MpiKind::intel : MpiKind::mpich;
}

Mpirun find_mpirun() {
  for (const char* program : {"mpirun", "mpiexec"})
    if (const auto version = output_of({program, "--version"})) return {program, kind_of_mpirun(*version)};
  fail(
      "mpirun is not installed on this machine: install MPICH, Intel MPI or Open MPI (Debian: apt install mpich), or "
      "start the processes of one host without --mpirun and hostfile");
}

Words mpirun_command(const Mpirun& mpirun, const LaunchPlan& plan, const LaunchOptions& options, const Words& target) {
  Words words{mpirun.program};
  append(words, mpirun.kind == MpiKind::openmpi ? openmpi_flags(plan) : hydra_flags(plan, mpirun.kind));
  append(words, rank_launcher(plan, options));
  append(words, target);
  return words;
}

std::pair<int, std::string_view> mpirun_line_origin(std::string_view line) {
  const std::size_t end = line.find(']');
  if (!line.starts_with('[') || end == line.npos) return {-1, line};
  std::string_view number = line.substr(1, end - 1), text = line.substr(end + 1);
  const bool openmpi = number.starts_with("1,");
  if (openmpi) number.remove_prefix(2);
  const std::optional<int> rank = whole_number<int>(number, 0);
  if (!rank) return {-1, line};
  for (const std::string_view mark : {"<stdout>:", "<stderr>:", " "})
    if (text.starts_with(mark)) return {*rank, text.substr(mark.size())};
  return {-1, line};
}

}  // namespace hearth::launch
