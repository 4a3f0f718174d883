#pragma once

namespace hearth::cpu {

// Requests the tile registers from the kernel for this process, its threads and children. Without that, AMX
// instructions are illegal.
bool kernel_grants_tiles();

// Whether one tile multiplication gives the right numbers. It runs in a child process, so that an illegal instruction
// ends only the child.
bool tile_product_works();

}  // namespace hearth::cpu
