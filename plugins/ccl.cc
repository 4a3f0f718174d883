#include <dlfcn.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <oneapi/ccl.hpp>

#include "plugins/backend.h"
#include "plugins/environment.h"
#include "plugins/messages.h"

namespace hearth::plugins {
namespace {

ccl::datatype type_of(Type type) {
  switch (type) {
    case HEARTH_F32:
      return ccl::datatype::float32;
    case HEARTH_F64:
      return ccl::datatype::float64;
    case HEARTH_I32:
      return ccl::datatype::int32;
    case HEARTH_I64:
      return ccl::datatype::int64;
    case HEARTH_U8:
      return ccl::datatype::uint8;
  }
  throw std::runtime_error("a dtype of another version of Hearth");
}

ccl::reduction op_of(Op op) {
  switch (op) {
    case HEARTH_SUM:
      return ccl::reduction::sum;
    case HEARTH_PROD:
      return ccl::reduction::prod;
    case HEARTH_MIN:
      return ccl::reduction::min;
    case HEARTH_MAX:
      return ccl::reduction::max;
  }
  throw std::runtime_error("an operation of another version of Hearth");
}

constexpr auto kBytes = ccl::datatype::uint8;

class CclRequest : public Request {
 public:
  explicit CclRequest(ccl::event event) : event_(std::move(event)) {}
  bool done() override { return event_.test(); }

 private:
  ccl::event event_;
};

const void* a_symbol_of_ccl() { return reinterpret_cast<const void*>(&ccl::get_library_version); }

// The network interface with this address; empty if there is none.
std::string interface_of(const std::string& address) {
  ifaddrs* first = nullptr;
  if (getifaddrs(&first) != 0) return "";
  std::string found;
  for (const ifaddrs* at = first; at && found.empty(); at = at->ifa_next) {
    if (!at->ifa_addr) continue;
    const int family = at->ifa_addr->sa_family;
    if (family != AF_INET && family != AF_INET6) continue;
    char text[NI_MAXHOST] = "";
    const socklen_t length = family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
    getnameinfo(at->ifa_addr, length, text, sizeof text, nullptr, 0, NI_NUMERICHOST);
    if (address == text) found = at->ifa_name;
  }
  freeifaddrs(first);
  return found;
}

// Sets the environment variables that oneCCL reads when it starts; those that the user has set stay.
void prepare(const World& world) {
  const char* chosen = std::getenv("CCL_ATL_TRANSPORT");
  const bool intel = started_by("intel");
  const std::string transport = chosen ? chosen : intel ? "mpi" : "ofi";
  if (transport == "mpi" && !intel) {
    throw std::runtime_error("CCL_ATL_TRANSPORT=mpi needs a job started by Intel's mpirun, this one was started by " +
                             launcher_name() + ": unset CCL_ATL_TRANSPORT or set it to ofi");
  }
  const IntelMpi mpi = find_intel_mpi(a_symbol_of_ccl());
  if (mpi.library.empty()) {
    throw std::runtime_error(
        "oneCCL needs Intel MPI and its libfabric, which were not found: pip install impi-rt, or "
        "set I_MPI_ROOT");
  }
  if (transport == "mpi") {
    dlopen(mpi.library.c_str(), RTLD_NOW | RTLD_GLOBAL);  // oneCCL opens it later by its bare name
    refuse_two_mpis();
  } else {
    set_default("CCL_OFI_LIBRARY_PATH", mpi.fabric);
  }
  if (const std::string interface = interface_of(world.address); !interface.empty()) {
    set_default("CCL_KVS_IFACE", interface);
    set_default("FI_TCP_IFACE", interface);
  }
  if (!intel) {
    set_default("CCL_PROCESS_LAUNCHER", "none");
    set_default("CCL_LOCAL_RANK", std::to_string(world.local_rank));
    set_default("CCL_LOCAL_SIZE", std::to_string(world.local_size));
  }
  set_default("CCL_ATL_TRANSPORT", transport);
  set_default("CCL_YIELD", "sched_yield");  // oneCCL's threads may share cores with threads that compute
  if (world.rank == 0) world.log_info("oneCCL over " + transport + ", started by " + launcher_name());
}

std::shared_ptr<ccl::kvs> meet(const World& world) {
  const std::string key = "ccl/kvs";
  ccl::kvs::address_type address;
  if (world.rank == 0) {
    auto store = ccl::create_main_kvs();
    address = store->get_address();
    world.set(key, std::vector<char>(address.begin(), address.end()));
    return store;
  }
  const std::vector<char> found = world.get(key);
  if (found.size() != address.size()) throw std::runtime_error("rank 0 runs another version of oneCCL");
  std::copy(found.begin(), found.end(), address.begin());
  return ccl::create_kvs(address);
}

// After a failure operations are still under way, and oneCCL's own exit handlers would crash or hang on them.
bool joined = false;
void end_at_once(int status, void*) {
  if (!joined) return;
  std::fflush(nullptr);
  _exit(status);
}

class CclBackend : public Backend {
 public:
  explicit CclBackend(const World& world) : Backend(world) {
    prepare(world_);
    joined = true;
    ccl::init();
    on_exit(end_at_once, nullptr);  // runs before the handlers that ccl::init registered
    store_ = meet(world_);
    comm_ = std::make_unique<ccl::communicator>(ccl::create_communicator(world_.size, world_.rank, store_));
  }

  void all_reduce(void* data, std::size_t count, Type type, Op op) override {
    wait(ccl::allreduce(data, data, count, type_of(type), op_of(op), *comm_));
  }

  void reduce(void* data, std::size_t count, Type type, Op op, int root) override {
    void* const result = world_.rank == root ? data : apart_.with_size(count * bytes_of(type));
    wait(ccl::reduce(data, result, count, type_of(type), op_of(op), root, *comm_));
  }

  void reduce_scatter(const void* whole, void* part, std::size_t count, Type type, Op op) override {
    const std::size_t bytes = count * bytes_of(type);
    const bool in_place = part == place(whole, bytes);  // oneCCL does not support it
    void* const result = in_place ? apart_.with_size(bytes) : part;
    wait(ccl::reduce_scatter(whole, result, count, type_of(type), op_of(op), *comm_));
    if (in_place) std::memcpy(part, result, bytes);
  }

  void broadcast(void* data, std::size_t bytes, int root) override {
    wait(ccl::broadcast(data, bytes, kBytes, root, *comm_));
  }

  void all_gather(const void* part, void* whole, std::size_t bytes) override {
    wait(ccl::allgatherv(part, bytes, whole, std::vector<std::size_t>(world_.size, bytes), kBytes, *comm_));
  }

  // oneCCL has neither gather nor scatter: every rank sends to, or receives from, the root alone.
  void gather(const void* part, void* whole, std::size_t bytes, int root) override {
    std::vector<std::size_t> to(world_.size, 0), from(world_.size, world_.rank == root ? bytes : 0);
    to[root] = bytes;
    exchange(part, to, whole, from);
  }

  void scatter(const void* whole, void* part, std::size_t bytes, int root) override {
    std::vector<std::size_t> to(world_.size, world_.rank == root ? bytes : 0), from(world_.size, 0);
    from[root] = bytes;
    exchange(whole, to, part, from);
  }

  void all_to_all(const void* in, void* out, std::size_t bytes) override {
    wait(ccl::alltoall(in, out, bytes, kBytes, *comm_));
  }

  void barrier() override { wait(ccl::barrier(*comm_)); }

  std::unique_ptr<Request> send(const void* data, std::size_t bytes, int to, int tag) override {
    const auto start = [this, to](const void* from, std::size_t size) -> std::unique_ptr<Request> {
      return std::make_unique<CclRequest>(ccl::send(const_cast<void*>(from), size, kBytes, to, *comm_));
    };
    return outboxes_.try_emplace(to, start).first->second.send(data, bytes, tag);
  }

  std::unique_ptr<Request> recv(void* data, std::size_t bytes, int from, int tag) override {
    const auto start = [this, from](void* to, std::size_t size) -> std::unique_ptr<Request> {
      return std::make_unique<CclRequest>(ccl::recv(to, size, kBytes, from, *comm_));
    };
    return inboxes_.try_emplace(from, from, start).first->second.recv(data, bytes, tag);
  }

  void leave() override {
    barrier();
    outboxes_.clear();
    inboxes_.clear();
    comm_.reset();
    store_.reset();
    joined = false;
  }

 private:
  void wait(ccl::event event) {
    Backoff backoff(world_);
    try {
      while (!event.test()) backoff.pause();
    } catch (...) {
      unfinished_.push_back(std::move(event));
      throw;
    }
  }

  void exchange(const void* in, const std::vector<std::size_t>& to, void* out, const std::vector<std::size_t>& from) {
    wait(ccl::alltoallv(in, to, out, from, kBytes, *comm_));
  }

  std::shared_ptr<ccl::kvs> store_;
  std::unique_ptr<ccl::communicator> comm_;
  std::map<int, Outbox> outboxes_;      // by rank
  std::map<int, Inbox> inboxes_;        // by rank
  std::vector<ccl::event> unfinished_;  // of calls whose wait failed; oneCCL still works on them
  KeptBuffer apart_;
};

std::string version() {
  const ccl::library_version found = ccl::get_library_version();
  return "oneCCL " + std::to_string(found.major) + "." + std::to_string(found.minor) + "." +
         std::to_string(found.update);
}

const char* refusal(const char*, int) {
  const char* const workers = std::getenv("CCL_WORKER_COUNT");
  char* end = nullptr;
  const bool is_set = workers != nullptr && std::strtol(workers, &end, 10) > 0 && *end == '\0';
  return is_set ? nullptr
                : "needs CCL_WORKER_COUNT, the number of oneCCL threads per process: set CCL_WORKER_COUNT=1, or use "
                  "--ddp_backend gloo";
}

}  // namespace
}  // namespace hearth::plugins

HEARTH_EXPORT const HearthCommPlugin* hearth_comm_plugin() {
  using namespace hearth::plugins;
  return plugin_of<CclBackend>({.name = "ccl", .library = version(), .preference = 4, .refusal = refusal});
}

HEARTH_EXPORT const char* hearth_comm_setvars() {
  static const std::string text = hearth::plugins::shell_variables(hearth::plugins::a_symbol_of_ccl());
  return text.c_str();
}
