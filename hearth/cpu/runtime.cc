#include "hearth/cpu/runtime.h"

#include "hearth/cpu/isa.h"
#include "hearth/cpu/parallel.h"

namespace hearth {

void configure(const Runtime& runtime) {
  cpu::set_num_threads(runtime.num_threads);
  cpu::set_max_isa(runtime.max_isa);
}

int num_threads() { return cpu::num_threads(); }

std::string instruction_set() { return std::string(cpu::name_of(cpu::isa())); }

}  // namespace hearth
