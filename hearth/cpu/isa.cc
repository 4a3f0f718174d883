#include "hearth/cpu/isa.h"

#include <cpuid.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <initializer_list>

#include "hearth/base/check.h"
#include "hearth/base/environment.h"
#include "hearth/cpu/amx_probe.h"

namespace hearth::cpu {
namespace {

constexpr std::array kIsas = {Isa::avx2, Isa::avx512, Isa::avx512_vnni, Isa::avx512_bf16, Isa::avx512_fp16, Isa::amx};

struct Registers {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
};

Registers cpuid(unsigned leaf, unsigned subleaf = 0) {
  Registers r;
  __get_cpuid_count(leaf, subleaf, &r.eax, &r.ebx, &r.ecx, &r.edx);  // leaves zeros where there is no such leaf
  return r;
}

constexpr bool has(std::uint64_t word, std::initializer_list<int> bits) {
  return std::all_of(bits.begin(), bits.end(), [&](int bit) { return (word >> bit & 1) != 0; });
}

// The register state that the operating system saves and restores.
std::uint64_t saved_state() {
  constexpr int osxsave = 27;
  if (!has(cpuid(1).ecx, {osxsave})) return 0;
  std::uint32_t low = 0, high = 0;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return std::uint64_t{high} << 32 | low;
}

std::string vendor() {
  const Registers r = cpuid(0);
  std::string name(12, '\0');
  std::memcpy(name.data(), &r.ebx, 4);
  std::memcpy(name.data() + 4, &r.edx, 4);
  std::memcpy(name.data() + 8, &r.ecx, 4);
  return name;
}

std::string model_name() {
  constexpr unsigned first = 0x80000002;
  std::array<Registers, 3> words;
  for (unsigned i = 0; i < words.size(); ++i) words[i] = cpuid(first + i);
  std::string name(sizeof words, '\0');
  std::memcpy(name.data(), words.data(), sizeof words);
  name.resize(std::strlen(name.c_str()));
  const auto begin = name.find_first_not_of(' ');
  if (begin == std::string::npos) return "unknown processor";
  return name.substr(begin, name.find_last_not_of(' ') - begin + 1);
}

Features detect() {
  Features f;
  f.model = model_name();
  f.intel = vendor() == "GenuineIntel";
  f.amd = vendor() == "AuthenticAMD";

  const Registers leaf1 = cpuid(1), leaf7 = cpuid(7), leaf7_1 = cpuid(7, 1);
  const std::uint64_t saved = saved_state();
  const bool saves_ymm = has(saved, {1, 2}), saves_zmm = has(saved, {5, 6, 7}), saves_tiles = has(saved, {17, 18});

  constexpr int fma = 12, avx = 28, f16c = 29, bmi1 = 3, bmi2 = 8;
  f.avx2 = saves_ymm && has(leaf1.ecx, {fma, avx, f16c}) && has(leaf7.ebx, {5, bmi1, bmi2});
  constexpr int foundation = 16, dq = 17, cd = 28, bw = 30, vl = 31;
  f.avx512 = f.avx2 && saves_zmm && has(leaf7.ebx, {foundation, dq, cd, bw, vl});
  f.avx512_vnni = f.avx512 && has(leaf7.ecx, {11});
  f.avx512_bf16 = f.avx512 && has(leaf7_1.eax, {5});
  f.avx512_fp16 = f.avx512 && has(leaf7.edx, {23});

  const bool tiles = saves_tiles && has(leaf7.edx, {24});
  f.amx_bf16 = tiles && has(leaf7.edx, {22});
  f.amx_int8 = tiles && has(leaf7.edx, {25});
  f.amx_fp16 = tiles && has(leaf7_1.eax, {21});
  f.amx_palette_hidden = tiles && cpuid(0x1d).eax == 0;
  f.amx_granted = f.amx_bf16 && kernel_grants_tiles();
  f.amx_usable = f.amx_granted && tile_product_works();
  return f;
}

bool has_level(const Features& f, Isa isa) {
  switch (isa) {
    case Isa::avx2:
      return f.avx2;
    case Isa::avx512:
      return f.avx512 && has_level(f, Isa::avx2);
    case Isa::avx512_vnni:
      return f.avx512_vnni && has_level(f, Isa::avx512);
    case Isa::avx512_bf16:
      return f.avx512_bf16 && has_level(f, Isa::avx512_vnni);
    case Isa::avx512_fp16:
      return f.avx512_fp16 && has_level(f, Isa::avx512_bf16);
    case Isa::amx:
      return f.amx_usable && has_level(f, Isa::avx512_bf16);
  }
  fail("[isa] unknown instruction set {}", static_cast<int>(isa));
}

Isa parse(std::string_view name, std::string_view where) {
  std::string known;
  for (const Isa isa : kIsas) {
    if (name_of(isa) == name) return isa;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", name_of(isa));
  }
  fail("{}: unknown instruction set \"{}\"; the values are {}", where, name, known);
}

Isa capped(std::string_view name, std::string_view where) {
  return name.empty() ? highest_isa() : highest_isa(features(), parse(name, where));
}

constexpr int kUndecided = -1;
std::atomic<int> in_use = kUndecided;

}  // namespace

std::string_view name_of(Isa isa) {
  switch (isa) {
    case Isa::avx2:
      return "avx2";
    case Isa::avx512:
      return "avx512";
    case Isa::avx512_vnni:
      return "avx512_vnni";
    case Isa::avx512_bf16:
      return "avx512_bf16";
    case Isa::avx512_fp16:
      return "avx512_fp16";
    case Isa::amx:
      return "amx";
  }
  fail("[isa] unknown instruction set {}", static_cast<int>(isa));
}

std::span<const Isa> all_isas() { return kIsas; }

const Features& features() {
  static const Features instance = detect();
  return instance;
}

Isa highest_isa() { return highest_isa(features()); }

Isa highest_isa(const Features& features, Isa cap) {
  const auto highest =
      std::find_if(kIsas.rbegin(), kIsas.rend(), [&](Isa isa) { return isa <= cap && has_level(features, isa); });
  check(highest != kIsas.rend(),
        "[isa] this processor ({}) or its operating system lacks AVX2, FMA, F16C, BMI1 or BMI2, which Hearth needs; "
        "use an x86-64 processor of 2015 or later",
        features.model);
  return *highest;
}

void set_max_isa(std::string_view name) { in_use = static_cast<int>(capped(name, "max_isa")); }

Isa isa() {
  int level = in_use.load(std::memory_order_relaxed);
  if (level == kUndecided) [[unlikely]] {
    const int from_environment = static_cast<int>(capped(environment("HEARTH_MAX_ISA"), "HEARTH_MAX_ISA"));
    if (in_use.compare_exchange_strong(level, from_environment)) level = from_environment;
  }
  return static_cast<Isa>(level);
}

}  // namespace hearth::cpu
