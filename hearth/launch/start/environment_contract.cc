#include "hearth/launch/start/environment_contract.h"

#include <algorithm>
#include <cctype>
#include <random>

#include "hearth/launch/place/cpu_list.h"
#include "hearth/launch/place/openmp_settings.h"

namespace hearth::launch {
namespace {

std::string upper(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

std::string python_bool(bool value) { return value ? "True" : "False"; }

std::string in_order(const std::vector<int>& processors) {
  std::string text;
  for (const int processor : processors) text += (text.empty() ? "" : ",") + std::to_string(processor);
  return text;
}

}  // namespace

Variables job_environment(const LaunchPlan& plan) {
  const ScriptSettings& script = plan.script;
  Variables variables{{"ACCELERATE_USE_CPU", "True"},
                      {"ACCELERATE_MIXED_PRECISION", script.mixed_precision},
                      {"ACCELERATE_DYNAMO_BACKEND", upper(script.dynamo_backend)},
                      {"ACCELERATE_DYNAMO_MODE", script.dynamo_mode},
                      {"ACCELERATE_DYNAMO_USE_FULLGRAPH", python_bool(script.dynamo_fullgraph)},
                      {"ACCELERATE_DYNAMO_USE_DYNAMIC", python_bool(script.dynamo_dynamic)},
                      {"ACCELERATE_DYNAMO_USE_REGIONAL_COMPILATION", python_bool(script.dynamo_regional)},
                      {"ACCELERATE_USE_IPEX", script.ipex ? "true" : "false"}};
  if (script.debug) variables.emplace_back("ACCELERATE_DEBUG_MODE", "true");
  if (script.cpu_affinity) variables.emplace_back("ACCELERATE_CPU_AFFINITY", "1");
  if (!plan.main_ip.empty()) variables.emplace_back("MASTER_ADDR", plan.main_ip);
  variables.emplace_back("MASTER_PORT", std::to_string(plan.main_port));
  if (plan.communication_threads)
    variables.emplace_back("CCL_WORKER_COUNT", std::to_string(*plan.communication_threads));
  if (!plan.communication_processors.empty())
    variables.emplace_back("CCL_WORKER_AFFINITY", in_order(plan.communication_processors));
  return variables;
}

Variables rank_environment(const comm::World& rank, const RankPlacement& placement) {
  Variables variables{{"RANK", std::to_string(rank.rank)},
                      {"WORLD_SIZE", std::to_string(rank.size)},
                      {"LOCAL_RANK", std::to_string(rank.local_rank)},
                      {"LOCAL_WORLD_SIZE", std::to_string(rank.local_size)}};
  const Variables threads = openmp_settings(placement);
  variables.insert(variables.end(), threads.begin(), threads.end());
  return variables;
}

comm::World rank_of(const LaunchPlan& plan, int local_rank) {
  if (plan.method == StartMethod::existing_world) return plan.world;
  comm::World world;
  world.rank = plan.machine_rank * plan.local_processes + local_rank;
  world.size = plan.num_processes;
  world.local_rank = local_rank;
  world.local_size = plan.local_processes;
  world.launcher = comm::Launcher::environment;
  return world;
}

std::string random_token() {
  std::random_device device;
  std::string token;
  for (int i = 0; i < 4; ++i) token += fmt::format("{:08x}", device());
  return token;
}

}  // namespace hearth::launch
