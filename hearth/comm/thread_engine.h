#pragma once

#include <memory>

#include "hearth/comm/plugin.h"
#include "hearth/comm/store.h"

namespace hearth::comm {

// The engine of ranks that are threads of one process: they read one another's buffers.
const HearthCommPlugin& thread_plugin();

// The store through which they meet; it owns what they share.
std::shared_ptr<Store> thread_store(int size);

}  // namespace hearth::comm
