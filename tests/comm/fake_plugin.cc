// Plug-ins that take the place of gloo's: one that meets through the store, and others that are wrong in one way each.
#include <string_view>

#include "tests/comm/store_plugin.h"

#ifndef FAKE_ABI
#define FAKE_ABI HEARTH_COMM_ABI
#endif

extern "C" {
#ifdef FAKE_STRANGER
int hearth_fake_stranger() { return 1; }
#else
int hearth_no_such_function();
int hearth_fake_stranger();

const HearthCommPlugin* hearth_comm_plugin() {
  static HearthCommPlugin plugin = hearth::comm::store_plugin();
  plugin.abi = FAKE_ABI;
#ifdef FAKE_TALKATIVE
  plugin.join = [](const HearthCommWorld* world, void** handle) {
    world->log(world->context, HEARTH_LOG_INFO, "joining");
    world->log(world->context, HEARTH_LOG_WARNING, "the weather is bad");
    static const auto join = hearth::comm::store_plugin().join;
    return join(world, handle);
  };
#endif
#ifdef FAKE_RELUCTANT
  plugin.preference = 1000;
  plugin.refusal = [](const char* launcher, int) {
    return std::string_view(launcher) == "slurm" ? nullptr : "needs Slurm: use srun";
  };
#endif
#ifdef FAKE_UNDEFINED
  plugin.abi = hearth_no_such_function();
#endif
#ifdef FAKE_DEPENDENT
  plugin.abi = hearth_fake_stranger();
#endif
  return &plugin;
}
#endif
}
