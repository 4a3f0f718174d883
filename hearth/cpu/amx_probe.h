#pragma once

namespace hearth::cpu {

// Asks for the tile registers on behalf of this process, its threads and children; without them AMX is illegal.
bool kernel_grants_tiles();

// Whether one tile product, computed in a child process so that an illegal instruction ends only that, is right.
bool tile_product_works();

}  // namespace hearth::cpu
