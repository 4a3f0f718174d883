#include "hearth/launch/place/openmp_settings.h"

#include <fmt/ranges.h>

#include <optional>

#include "hearth/base/environment.h"

namespace hearth::launch {
namespace {

constexpr std::string_view kNoEffect = "no effect: it belongs to Intel's OpenMP, which Hearth does not use";

bool is_set(std::string_view variable) { return !environment(variable).empty(); }

bool user_binds_threads() { return is_set("OMP_PLACES") || is_set("GOMP_CPU_AFFINITY") || is_set("OMP_PROC_BIND"); }

std::string places_text(const std::vector<Place>& places) {
  std::string text;
  for (const Place& place : places) text += fmt::format("{}{{{}}}", text.empty() ? "" : ",", fmt::join(place, ","));
  return text;
}

bool contains(const std::string& text, std::string_view word) { return text.find(word) != text.npos; }

// The processors of "explicit,proclist=[0-3,8]".
std::optional<std::string> proclist(const std::string& affinity) {
  const std::size_t begin = affinity.find("proclist=[");
  if (begin == affinity.npos) return std::nullopt;
  const std::size_t first = affinity.find('[', begin) + 1;
  const std::size_t end = affinity.find(']', first);
  if (end == affinity.npos) return std::nullopt;
  std::string list = affinity.substr(first, end - first);
  return list.find_first_not_of("0123456789,-") == list.npos ? std::optional(list) : std::nullopt;
}

// KMP_AFFINITY as a variable that Hearth's compute threads obey (cpu/thread_places.h).
std::pair<std::string, std::string> translate_affinity(const std::string& affinity) {
  if (contains(affinity, "none") || contains(affinity, "disabled")) return {"OMP_PROC_BIND", "false"};
  if (const auto list = proclist(affinity)) return {"GOMP_CPU_AFFINITY", *list};
  return {"OMP_PROC_BIND", contains(affinity, "scatter") ? "spread" : "close"};
}

std::optional<std::string> wait_policy(const std::string& blocktime) {
  if (blocktime == "0") return "passive";
  if (blocktime == "infinite") return "active";
  return std::nullopt;
}

}  // namespace

Variables openmp_settings(const RankPlacement& placement) {
  Variables variables{{"OMP_NUM_THREADS", std::to_string(placement.threads)}};
  if (const auto policy = wait_policy(environment("KMP_BLOCKTIME")); policy && !is_set("OMP_WAIT_POLICY"))
    variables.emplace_back("OMP_WAIT_POLICY", *policy);
  if (user_binds_threads() || !placement.pinned) return variables;
  const auto bind = is_set("KMP_AFFINITY") ? translate_affinity(environment("KMP_AFFINITY"))
                                           : std::pair<std::string, std::string>("OMP_PROC_BIND", "close");
  variables.push_back(bind);
  if (bind.first == "OMP_PROC_BIND" && bind.second != "false")
    variables.emplace_back("OMP_PLACES", places_text(placement.places));
  return variables;
}

void explain_kmp_variables(Decisions& decisions) {
  const auto explain = [&](const std::string& name, const std::string& reason) {
    if (is_set(name)) decisions.note(name, environment(name), reason);
  };
  const auto [name, value] = translate_affinity(environment("KMP_AFFINITY"));
  explain("KMP_AFFINITY", user_binds_threads() ? "no effect: OpenMP's own variables are set"
                                               : fmt::format("given to the ranks as {}={}", name, value));
  const auto policy = wait_policy(environment("KMP_BLOCKTIME"));
  explain("KMP_BLOCKTIME", policy ? "given to the ranks as OMP_WAIT_POLICY=" + *policy : std::string(kNoEffect));
  for (const char* other : {"KMP_HW_SUBSET", "KMP_SETTINGS", "KMP_LIBRARY", "KMP_STACKSIZE", "KMP_TPAUSE"})
    explain(other, std::string(kNoEffect));
}

}  // namespace hearth::launch
