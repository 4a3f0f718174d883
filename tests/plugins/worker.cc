// One rank of a job that tests a backend for real:
//   plugin_worker BACKEND [quick] [fault=SIGNAL] [hold=MEGABYTES] [limit=BYTES] [loaded=NAME]... [absent=NAME]...
// quick: for many ranks. hold: takes so much shared memory per rank, says so and waits. fault: the last rank gets this
// signal in the midst of the work. limit: messages to the library are no larger. The names are those of libraries that
// this process must, or must not, hold once the job is done.
#include <signal.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "hearth/base/check.h"
#include "hearth/base/environment.h"
#include "hearth/base/error.h"
#include "hearth/comm/connect.h"
#include "hearth/comm/plugin_group.h"
#include "hearth/comm/plugin_loader.h"
#include "hearth/comm/tcp_store.h"
#include "tests/plugins/collectives.h"

using namespace hearth;
using namespace hearth::comm;

namespace {

constexpr std::chrono::seconds kTimeout(30), kShortTimeout(6);

std::unique_ptr<ProcessGroup> connect_with_limit(const World& world, const std::string& backend, std::size_t limit) {
  const std::string host = environment("MASTER_ADDR");
  const int port = std::stoi(environment("MASTER_PORT"));
  std::shared_ptr<Store> store;
  if (world.rank == 0) {
    store = std::make_shared<StoreServer>(host, port, "");
  } else {
    store = std::make_shared<StoreClient>(host, port, "", kTimeout);
  }
  PluginGroupOptions options;
  options.timeout = kTimeout;
  options.max_message_bytes = limit;
  return std::make_unique<PluginGroup>(load_plugin(backend, world), world, store, options);
}

void work_until(ProcessGroup& group, int fault) {
  std::vector<float> data(1 << 20);
  for (int step = 0;; ++step) {
    if (step == 5 && group.rank() == group.size() - 1) {
      std::fputs("the fault comes now\n", stderr);
      raise(fault);
    }
    group.all_reduce(data.data(), data.size(), DType::f32)->wait();
  }
}

// Each rank fills a block and reads all of them.
std::shared_ptr<std::byte> check_shared_memory(ProcessGroup& group, std::size_t block) {
  const auto ranks = static_cast<std::size_t>(group.size());
  const std::shared_ptr<std::byte> memory = group.share(ranks * block);
  const auto mark = [](std::size_t rank, std::size_t i) { return static_cast<std::byte>(1 + rank + i % 7); };
  std::byte* const own = memory.get() + static_cast<std::size_t>(group.rank()) * block;
  for (std::size_t i = 0; i < block; ++i) {
    check(own[i] == std::byte{0}, "new shared memory is not zero");
    own[i] = mark(static_cast<std::size_t>(group.rank()), i);
  }
  group.barrier()->wait();
  for (std::size_t i = 0; i < ranks * block; ++i)
    check(memory.get()[i] == mark(i / block, i % block), "byte {} of the shared memory is not what rank {} wrote", i,
          i / block);
  return memory;
}

void check_libraries(const std::vector<std::string>& arguments) {
  std::ifstream file("/proc/self/maps");
  const std::string maps{std::istreambuf_iterator<char>(file), {}};
  for (const std::string& argument : arguments) {
    const std::string name = argument.substr(argument.find('=') + 1);
    const bool held = maps.find("/" + name) != maps.npos;
    check(!argument.starts_with("loaded=") || held, "{} is not loaded", name);
    check(!argument.starts_with("absent=") || !held, "{} is loaded", name);
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const std::string backend = argv[1];
    const std::vector<std::string> arguments(argv + 2, argv + argc);
    const World world = world_from_environment();
    const auto number = [&](const std::string& name) {
      for (const std::string& argument : arguments) {
        if (argument.starts_with(name + "=")) return std::stoul(argument.substr(name.size() + 1));
      }
      return 0UL;
    };
    const std::size_t limit = number("limit");
    ConnectOptions options;
    options.backend = backend;
    options.timeout = number("fault") != 0 ? kShortTimeout : kTimeout;
    const auto group = limit > 0 ? connect_with_limit(world, backend, limit) : connect(world, options);
    if (const std::size_t megabytes = number("hold")) {
      const auto memory = check_shared_memory(*group, megabytes << 20);
      std::puts("holding");
      std::fflush(stdout);
      while (true) group->barrier()->wait();
    } else if (const std::size_t fault = number("fault")) {
      work_until(*group, static_cast<int>(fault));
    } else if (std::find(arguments.begin(), arguments.end(), "quick") != arguments.end()) {
      Collectives<float>(*group).run(30'011);
    } else {
      check_collectives(*group);
      if (group->shares_memory()) check_shared_memory(*group, 10'001);
    }
    check_libraries(arguments);
    std::printf("rank %d of %d over %s: all is well\n", group->rank(), group->size(),
                std::string(group->backend()).c_str());
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
