#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::cpu {

// Instruction-set levels. Each includes those before it, except that amx may come without avx512_fp16, which no kernel
// needs. Kernels ask `isa()` and nothing else.
enum class Isa { avx2, avx512, avx512_vnni, avx512_bf16, avx512_fp16, amx };

std::string_view name_of(Isa);
std::span<const Isa> all_isas();  // lowest first

// The CPUID features and, for AMX, the result of trying it: AMX counts as usable only if the flags are set, the kernel
// grants the tile registers and one tile multiplication in a child process gave the right numbers.
struct Features {
  std::string model;
  bool intel = false, amd = false;
  bool avx2 = false, avx512 = false, avx512_vnni = false, avx512_bf16 = false, avx512_fp16 = false;
  bool amx_bf16 = false, amx_fp16 = false, amx_int8 = false;
  bool amx_granted = false, amx_usable = false;  // by the kernel; and the trial gave the right numbers
  // AMX is announced but CPUID leaf 0x1D, which describes the tiles, is empty: oneDNN would configure palette 0 and
  // die with an illegal instruction, so it must be capped below AMX before its first primitive.
  bool amx_palette_hidden = false;
};

const Features& features();
Isa highest_isa();                                     // of this machine; throws on a processor below AVX2
Isa highest_isa(const Features&, Isa cap = Isa::amx);  // the highest level that is not above the cap

// The level in use: the highest one that is not above the cap. Set the cap before the first kernel runs; the program
// takes it from HEARTH_MAX_ISA or --max_isa. An empty name means no cap.
void set_max_isa(std::string_view name);
Isa isa();

}  // namespace hearth::cpu
