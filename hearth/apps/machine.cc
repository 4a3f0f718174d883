#include "hearth/apps/machine.h"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <algorithm>
#include <array>

#include "hearth/apps/build_info.h"
#include "hearth/base/environment.h"
#include "hearth/base/version.h"
#include "hearth/cpu/isa.h"
#include "hearth/cpu/parallel.h"
#include "hearth/cpu/system.h"
#include "hearth/cpu/topology.h"
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

// A report of a bug may go anywhere. A proxy's address may contain a password.
bool is_private(std::string_view variable) {
  constexpr std::array<std::string_view, 5> kPrivate{"HOME", "HEARTH_JOB_TOKEN", "HF_TOKEN", "HUGGING_FACE_HUB_TOKEN",
                                                     "https_proxy"};
  return std::ranges::find(kPrivate, variable) != kPrivate.end();
}

}  // namespace

io::Json describe_machine() {
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
  for (const EnvironmentVariable& variable : environment_variables())
    if (const std::string value = environment(variable.name); !value.empty() && !is_private(variable.name))
      json["environment"][variable.name] = value;
  return json;
}

}  // namespace hearth::apps
