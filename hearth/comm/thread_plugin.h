#pragma once

#include <memory>

#include "hearth/comm/plugin.h"
#include "hearth/comm/store.h"

namespace hearth::comm {

// The plug-in for ranks that are threads of one process. They read each other's buffers.
const HearthCommPlugin& thread_plugin();

// The store through which these ranks find each other; it owns their shared state.
std::shared_ptr<Store> thread_store(int size);

}  // namespace hearth::comm
