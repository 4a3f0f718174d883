#include "hearth/comm/connect.h"

#include <sys/resource.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <utility>

#include "hearth/base/check.h"
#include "hearth/base/environment.h"
#include "hearth/base/log.h"
#include "hearth/base/version.h"
#include "hearth/base/whole_number.h"
#include "hearth/comm/plugin_group.h"
#include "hearth/comm/plugin_loader.h"
#include "hearth/comm/socket.h"
#include "hearth/comm/tcp_store.h"
#include "hearth/comm/thread_world.h"

namespace hearth::comm {
namespace {

constexpr std::size_t kStrangers = 64;  // connections to the store from processes outside the job, until dropped

std::string master_address(const World& world) {
  const std::string address = environment("MASTER_ADDR");
  if (!world.several_hosts()) return address.empty() ? "127.0.0.1" : address;
  check(
      !address.empty(),
      "[comm] this job has {} processes, {} of them on this host: set MASTER_ADDR on every host to the address of the "
      "host of rank 0",
      world.size, world.local_size);
  check(!is_loopback(address),
        "[comm] MASTER_ADDR {} is a loopback address, but this job has several hosts: set it to an address of rank 0's "
        "host that the other hosts can reach",
        address);
  return address;
}

int master_port() {
  const std::string text = environment("MASTER_PORT");
  if (text.empty()) return kDefaultPort;
  const auto port = whole_number<int>(text);
  check(port && *port > 0 && *port < 65536, "[comm] MASTER_PORT={} is not a port: set it to a number from 1 to 65535",
        text);
  return *port;
}

std::shared_ptr<Store> open_store(const World& world, const std::string& address, std::chrono::milliseconds timeout) {
  const std::string token = environment("HEARTH_JOB_TOKEN");
  ServerLimits limits;
  limits.clients = static_cast<std::size_t>(world.size) + kStrangers;
  if (world.rank == 0) return std::make_shared<StoreServer>(address, master_port(), token, limits);
  return std::make_shared<StoreClient>(address, master_port(), token, timeout);
}

// A sentence about the first value in which this rank differs from rank 0; empty if they agree.
std::string disagreement(Store& store, const World& world, const std::string& backend,
                         std::chrono::milliseconds timeout) {
  const std::pair<const char*, std::string> facts[] = {
      {"version", std::string(kVersion)}, {"backend", backend}, {"number of processes", std::to_string(world.size)}};
  std::string result;
  for (const auto& [name, mine] : facts) {
    const std::string key = fmt::format("job/{}", name);
    if (world.rank == 0) store.set(key, mine);
    const std::string first = store.get(key, timeout);
    if (first != mine && result.empty())
      result = fmt::format("the {} is {} on rank {} but {} on rank 0: start all ranks with the same", name, mine,
                           world.rank, first);
  }
  return result;
}

// Checks that all ranks belong to one job and agree on version, backend and size. A process of another job that
// connects by mistake gets an error and does no harm, unless this job still waits for a process of its rank.
void shake_hands(Store& store, const World& world, const std::string& backend, std::chrono::milliseconds timeout) {
  const std::string difference = disagreement(store, world, backend, timeout);
  const auto size = whole_number<int>(store.get("job/number of processes", timeout));
  const bool awaited = size && world.rank < *size && store.add(fmt::format("rank/{}", world.rank), 1) == 1;
  if (!difference.empty() && awaited) {
    store.set("verdict", difference);
    store.set(fmt::format("gone/{}", world.rank), "failed");
  }
  check(difference.empty(), "[comm] {}; if this is the store of another job, set MASTER_PORT to a free port",
        difference);
  check(
      awaited,
      "[comm] two processes claim rank {} of the job at MASTER_PORT {}: if another job uses that port, set a free one",
      world.rank, master_port());
  store.set(fmt::format("place/{}", world.rank), host_name());
  store.set_last_will(fmt::format("gone/{}", world.rank), "died");
}

// Ranks without LOCAL_WORLD_SIZE assume they own the host. Detects ranks that actually share one by comparing host name
// and kernel boot id: containers on one machine have the same boot id but distinct host names.
void warn_of_neighbours(Store& store, const World& world) {
  std::string boot;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), boot);
  if (world.local_size == 1 && store.add(fmt::format("host/{} {}", host_name(), boot), 1) > 1)
    log_warning(
        "another process of this job runs on this host, and each uses all cores: set LOCAL_RANK and LOCAL_WORLD_SIZE");
}

// Each rank has connections to all others, and the usual soft limit is 1,024.
void raise_descriptor_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

std::unique_ptr<ProcessGroup> connect(const World& world, const ConnectOptions& options) {
  if (world.size == 1) return self_group();
  raise_descriptor_limit();
  const std::string backend = options.backend ? *options.backend : preferred_backend(world);
  if (const std::string advice = launcher_advice(world); world.rank == 0 && !advice.empty()) log_warning("{}", advice);
  const HearthCommPlugin& plugin = load_plugin(backend, world);
  const std::string master = master_address(world);
  const std::shared_ptr<Store> store = open_store(world, master, options.timeout);
  shake_hands(*store, world, backend, options.timeout);
  warn_of_neighbours(*store, world);
  PluginGroupOptions group_options;
  group_options.timeout = options.timeout;
  group_options.beat = std::min<std::chrono::milliseconds>(group_options.beat, group_options.timeout / 10);
  group_options.address = local_address_towards(master);
  group_options.max_message_bytes = options.max_message_bytes;
  group_options.cpus = options.cpus;
  return std::make_unique<PluginGroup>(plugin, world, store, group_options);
}

}  // namespace hearth::comm
