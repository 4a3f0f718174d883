#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/utsname.h>

#include <algorithm>
#include <array>

#include "hearth/apps/build_info.h"
#include "hearth/apps/command.h"
#include "hearth/base/arguments.h"
#include "hearth/base/check.h"
#include "hearth/base/environment.h"
#include "hearth/base/terminal.h"
#include "hearth/base/text_layout.h"
#include "hearth/base/version.h"
#include "hearth/comm/plugin.h"
#include "hearth/comm/plugin_loader.h"
#include "hearth/cpu/isa.h"
#include "hearth/cpu/parallel.h"
#include "hearth/cpu/system.h"
#include "hearth/cpu/topology.h"
#include "hearth/io/json.h"
#include "hearth/kernels/attention/attention.h"
#include "hearth/kernels/gemm/gemm.h"
#include "hearth/kernels/gemm/onednn.h"
#include "hearth/kernels/simd/simd.h"

namespace hearth::apps {
namespace {

std::string gib(std::size_t bytes) { return fmt::format("{:.1f} GiB", static_cast<double>(bytes) / (1 << 30)); }

io::Json instruction_sets_found() {
  const cpu::Features& found = cpu::features();
  io::Json names = io::Json::array();
  const std::pair<const char*, bool> all[] = {{"avx2", found.avx2},
                                              {"avx512", found.avx512},
                                              {"avx512_vnni", found.avx512_vnni},
                                              {"avx512_bf16", found.avx512_bf16},
                                              {"avx512_fp16", found.avx512_fp16},
                                              {"amx_bf16", found.amx_bf16},
                                              {"amx_fp16", found.amx_fp16},
                                              {"amx_int8", found.amx_int8}};
  for (const auto& [name, present] : all)
    if (present) names.push_back(name);
  return names;
}

std::string amx_note() {
  const cpu::Features& found = cpu::features();
  if (!found.amx_bf16) return "not announced";
  if (!found.amx_granted) return "announced, but refused by the kernel: not used";
  if (!found.amx_usable) return "announced and granted, but a trial product failed: not used";
  return found.amx_palette_hidden ? "works; CPUID leaf 0x1D is hidden, so oneDNN is kept below AMX" : "works";
}

io::Json backends() {
  io::Json json{{"self", "one process"}};
  for (const comm::PluginInfo& plugin : comm::describe_plugins())
    json[plugin.name] = plugin.problem.empty() ? plugin.library : plugin.problem;
  return json;
}

// A report of a bug may go anywhere. A proxy's address may contain a password.
bool is_private(std::string_view variable) {
  constexpr std::array<std::string_view, 5> kPrivate{"HOME", "HEARTH_JOB_TOKEN", "HF_TOKEN", "HUGGING_FACE_HUB_TOKEN",
                                                     "https_proxy"};
  return std::ranges::find(kPrivate, variable) != kPrivate.end();
}

io::Json describe() {
  const cpu::Topology& topology = cpu::topology();
  io::Json json;
  json["version"] = kVersion;
  json["commit"] = kBuild.commit;
  json["date"] = kBuild.date;
  json["compiler"] = compiler();
  json["flags"] = kBuild.flags;
  utsname system{};
  uname(&system);
  json["platform"] = fmt::format("{} {} {}", system.sysname, system.release, system.machine);
  json["processor"] = cpu::features().model;
  json["sockets"] = topology.sockets;
  json["cores"] = topology.cores;
  json["logical_processors"] = topology.processors;
  json["numa_nodes"] = topology.numa_nodes;
  json["usable_cores"] = topology.usable_cores;
  if (topology.processor_quota) json["processor_quota"] = *topology.processor_quota;
  json["threads"] = cpu::num_threads();
  json["instruction_sets_found"] = instruction_sets_found();
  json["amx"] = amx_note();
  json["instruction_set_in_use"] = cpu::name_of(cpu::isa());
  for (const DType type : {DType::f32, DType::bf16, DType::f16}) {
    kernels::AttentionArgs attention;
    attention.type = type;
    attention.head_dim = 64;
    json["matrix_product"][std::string(name_of(type))] = kernels::choose_gemm(type, cpu::isa()).name;
    json["attention"][std::string(name_of(type))] = kernels::choose_attention(attention, cpu::isa()).name;
  }
  json["memory_total"] = gib(cpu::memory_total());
  json["memory_available"] = gib(cpu::memory_available());
  json["transparent_huge_pages"] = cpu::transparent_huge_pages();
  json["libraries"] = {
      {"oneDNN", kernels::onednn_version()},
      {"Highway", kernels::highway_version()},
      {"hwloc", cpu::hwloc_version()},
      {"OpenMP", cpu::openmp_runtime()},
      {"fmt", fmt::format("{}.{}.{}", FMT_VERSION / 10000, FMT_VERSION / 100 % 100, FMT_VERSION % 100)},
      {"nlohmann-json",
       fmt::format("{}.{}.{}", NLOHMANN_JSON_VERSION_MAJOR, NLOHMANN_JSON_VERSION_MINOR, NLOHMANN_JSON_VERSION_PATCH)}};
  json["onednn_instruction_set"] = kernels::onednn_isa();
  json["backends"] = backends();
  for (const EnvironmentVariable& variable : environment_variables())
    if (const std::string value = environment(variable.name); !value.empty() && !is_private(variable.name))
      json["environment"][variable.name] = value;
  return json;
}

// Shell commands that set the paths of oneCCL and Intel MPI as the plug-in finds them.
std::string setvars() {
  const auto file = comm::find_plugin("ccl", comm::Launcher::none);
  void* const library = file ? dlopen(file->c_str(), RTLD_NOW | RTLD_LOCAL) : nullptr;
  const auto variables =
      library != nullptr ? reinterpret_cast<HearthCommSetvars>(dlsym(library, HEARTH_COMM_SETVARS)) : nullptr;
  const std::string text = variables != nullptr ? variables() : "";
  check(!text.empty(),
        "oneCCL and Intel MPI were not found: install them with scripts/install_backends, then build again");
  return text;
}

void print_item(std::string_view indent, const std::string& key, const io::Json& value) {
  if (value.is_object()) {
    fmt::print("{}- {}:\n", indent, key);
    for (const auto& [name, inner] : value.items()) print_item(std::string(indent) + "  ", name, inner);
  } else if (value.is_array()) {
    std::string list;
    for (const io::Json& item : value) list += (list.empty() ? "" : ", ") + item.get<std::string>();
    fmt::print("{}- {}: {}\n", indent, key, list);
  } else {
    fmt::print("{}- {}: {}\n", indent, key, value.is_string() ? value.get<std::string>() : value.dump());
  }
}

void print_variables() {
  fmt::print("\nEnvironment variables:\n");
  for (const EnvironmentVariable& variable : environment_variables())
    fmt::print("  {:<28}{}\n", variable.name, wrapped(variable.meaning, help_columns(), 30));
}

}  // namespace

int env(std::span<const std::string> words) {
  bool json = false, variables = false;
  std::string max_isa;
  Arguments arguments("hearth env", "Describes this machine and this build, for a bug report.");
  arguments.add("json", &json, "print JSON");
  arguments.add("setvars", &variables, "print shell commands that put oneCCL and Intel MPI on the search paths");
  arguments.add("max_isa", &max_isa, "highest instruction set to use");
  arguments.examples({"hearth env", "hearth env --json", "eval \"$(hearth env --setvars)\""});
  if (!parse_or_print_help(arguments, words)) {
    print_variables();
    return 0;
  }
  if (variables) {
    fmt::print("{}", setvars());
    return 0;
  }
  if (!max_isa.empty()) cpu::set_max_isa(max_isa);
  const io::Json description = describe();
  if (json) {
    fmt::print("{}\n", io::dump_json(description, 2));
    return 0;
  }
  fmt::print("Copy-and-paste the text below in your issue:\n\n");
  for (const auto& [key, value] : description.items()) print_item("", key, value);
  return 0;
}

}  // namespace hearth::apps
