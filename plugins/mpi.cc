// One source for every MPI, compiled once for each. HEARTH_MPI is the library's usual name, HEARTH_MPI_LAUNCHER names
// the launcher that starts its programs.
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <regex>

#include "plugins/backend.h"
#include "plugins/environment.h"

namespace hearth::plugins {
namespace {

void check(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw std::runtime_error(std::string(call) + ": " + text);
}

MPI_Datatype type_of(Type type) {
  switch (type) {
    case HEARTH_F32:
      return MPI_FLOAT;
    case HEARTH_F64:
      return MPI_DOUBLE;
    case HEARTH_I32:
      return MPI_INT32_T;
    case HEARTH_I64:
      return MPI_INT64_T;
    case HEARTH_U8:
      return MPI_UINT8_T;
  }
  return MPI_DATATYPE_NULL;
}

MPI_Op op_of(Op op) {
  switch (op) {
    case HEARTH_SUM:
      return MPI_SUM;
    case HEARTH_PROD:
      return MPI_PROD;
    case HEARTH_MIN:
      return MPI_MIN;
    case HEARTH_MAX:
      return MPI_MAX;
  }
  return MPI_OP_NULL;
}

class MpiRequest : public Request {
 public:
  MPI_Request* handle() { return &request_; }
  bool done() override {
    int done = 0;
    check(MPI_Test(&request_, &done, MPI_STATUS_IGNORE), "MPI_Test");
    return done != 0;
  }

 private:
  MPI_Request request_ = MPI_REQUEST_NULL;
};

class MpiBackend : public Backend {
 public:
  explicit MpiBackend(const World& world) : Backend(world) {
    refuse_other_launchers(HEARTH_MPI, HEARTH_MPI_LAUNCHER);
    refuse_two_mpis();
    if (std::string(HEARTH_MPI_LAUNCHER) == "openmpi")  // it loads further parts of itself, which need its symbols
      make_global(reinterpret_cast<const void*>(&MPI_Init_thread));
    if (std::string(HEARTH_MPI_LAUNCHER) == "intel") find_intel_mpi(reinterpret_cast<const void*>(&MPI_Init_thread));
    int before = 0, granted = 0;
    check(MPI_Initialized(&before), "MPI_Initialized");
    if (before) throw std::runtime_error(HEARTH_MPI " cannot be joined twice in one process");
    check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &granted), "MPI_Init_thread");
    check(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    if (granted < MPI_THREAD_FUNNELED) {
      throw std::runtime_error(HEARTH_MPI " was built without threads; install one that has MPI_THREAD_FUNNELED");
    }
    int rank = 0, size = 0;
    check(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "MPI_Comm_rank");
    check(MPI_Comm_size(MPI_COMM_WORLD, &size), "MPI_Comm_size");
    if (rank != world_.rank || size != world_.size) {
      throw std::runtime_error("the launcher says rank " + std::to_string(world_.rank) + " of " +
                               std::to_string(world_.size) + ", " HEARTH_MPI " says " + std::to_string(rank) + " of " +
                               std::to_string(size) + ": start the job with the mpirun of " HEARTH_MPI);
    }
  }

  // On one host pieces that fit into the cache are twice as fast as one large call; between hosts each piece costs
  // latency.
  std::size_t reduction_bytes() const override {
    const std::size_t piece = world_.several_hosts() ? std::size_t{16} << 20 : (std::size_t{128} << 10) * world_.size;
    return std::min(piece, world_.max_message_bytes);
  }

  void all_reduce(void* data, std::size_t count, Type type, Op op) override {
    run("MPI_Iallreduce", [&](MPI_Request* request) {
      return MPI_Iallreduce(MPI_IN_PLACE, data, int(count), type_of(type), op_of(op), MPI_COMM_WORLD, request);
    });
  }

  void reduce(void* data, std::size_t count, Type type, Op op, int root) override {
    const bool mine = world_.rank == root;
    run("MPI_Ireduce", [&](MPI_Request* request) {
      return MPI_Ireduce(mine ? MPI_IN_PLACE : data, mine ? data : nullptr, int(count), type_of(type), op_of(op), root,
                         MPI_COMM_WORLD, request);
    });
  }

  // Each rank sends the other ranks pieces of their parts and sums up its own. On one host that is faster than
  // MPI_Ireduce_scatter_block in all three MPIs (docs/performance-steps.md).
  void reduce_scatter(const void* whole, void* part, std::size_t count, Type type, Op op) override {
    const std::size_t largest = std::max<std::size_t>(1, reduction_bytes() / bytes_of(type) / world_.size);
    for (std::size_t offset = 0; offset < count; offset += largest) {
      const std::size_t piece = std::min(largest, count - offset), bytes = piece * bytes_of(type);
      const char* const others = pieces_of_others(whole, count, offset, piece, type);
      const char* const own = place(whole, count * bytes_of(type)) + offset * bytes_of(type);
      char* const sum = static_cast<char*>(part) + offset * bytes_of(type);
      if (sum != own) std::memcpy(sum, own, bytes);
      for (int other = 0; other < world_.size - 1; ++other) {
        check(MPI_Reduce_local(others + other * bytes, sum, int(piece), type_of(type), op_of(op)), "MPI_Reduce_local");
      }
    }
  }

  void broadcast(void* data, std::size_t bytes, int root) override {
    run("MPI_Ibcast",
        [&](MPI_Request* request) { return MPI_Ibcast(data, int(bytes), MPI_BYTE, root, MPI_COMM_WORLD, request); });
  }

  void all_gather(const void* part, void* whole, std::size_t bytes) override {
    const void* from = part == place(whole, bytes) ? MPI_IN_PLACE : part;
    run("MPI_Iallgather", [&](MPI_Request* request) {
      return MPI_Iallgather(from, int(bytes), MPI_BYTE, whole, int(bytes), MPI_BYTE, MPI_COMM_WORLD, request);
    });
  }

  void gather(const void* part, void* whole, std::size_t bytes, int root) override {
    const void* from = world_.rank == root && part == place(whole, bytes) ? MPI_IN_PLACE : part;
    run("MPI_Igather", [&](MPI_Request* request) {
      return MPI_Igather(from, int(bytes), MPI_BYTE, whole, int(bytes), MPI_BYTE, root, MPI_COMM_WORLD, request);
    });
  }

  void scatter(const void* whole, void* part, std::size_t bytes, int root) override {
    void* to = world_.rank == root && part == place(whole, bytes) ? MPI_IN_PLACE : part;
    run("MPI_Iscatter", [&](MPI_Request* request) {
      return MPI_Iscatter(whole, int(bytes), MPI_BYTE, to, int(bytes), MPI_BYTE, root, MPI_COMM_WORLD, request);
    });
  }

  void all_to_all(const void* in, void* out, std::size_t bytes) override {
    run("MPI_Ialltoall", [&](MPI_Request* request) {
      return MPI_Ialltoall(in, int(bytes), MPI_BYTE, out, int(bytes), MPI_BYTE, MPI_COMM_WORLD, request);
    });
  }

  void barrier() override {
    run("MPI_Ibarrier", [&](MPI_Request* request) { return MPI_Ibarrier(MPI_COMM_WORLD, request); });
  }

  std::unique_ptr<Request> send(const void* data, std::size_t bytes, int to, int tag) override {
    auto request = std::make_unique<MpiRequest>();
    check(MPI_Isend(data, int(bytes), MPI_BYTE, to, tag, MPI_COMM_WORLD, request->handle()), "MPI_Isend");
    return request;
  }

  std::unique_ptr<Request> recv(void* data, std::size_t bytes, int from, int tag) override {
    auto request = std::make_unique<MpiRequest>();
    check(MPI_Irecv(data, int(bytes), MPI_BYTE, from, tag, MPI_COMM_WORLD, request->handle()), "MPI_Irecv");
    return request;
  }

  void leave() override {
    barrier();
    if (!end_with_process_manager()) check(MPI_Finalize(), "MPI_Finalize");
  }

 private:
  // MPI_Finalize of MPICH 4.0.2 over UCX and TCP may hang between hosts: it waits for ranks that have left it already.
  // So this rank sends the process manager the message that MPI_Finalize ends with, and skips the rest.
  bool end_with_process_manager() {
    const char* descriptor = std::getenv("PMI_FD");
    if (std::string(HEARTH_MPI_LAUNCHER) != "mpich" || !world_.several_hosts() || !descriptor) return false;
    const int manager = std::atoi(descriptor);
    const std::string farewell = "cmd=finalize\n";
    char answer[256];
    return ::write(manager, farewell.data(), farewell.size()) > 0 && ::read(manager, answer, sizeof answer) > 0;
  }

  // The values that the other ranks have for a piece of this rank's part, by rank. Valid until the next call.
  const char* pieces_of_others(const void* whole, std::size_t count, std::size_t offset, std::size_t piece, Type type) {
    std::vector<int>&counts = exchange_.counts, &from = exchange_.from, &to = exchange_.to;
    counts.assign(world_.size, int(piece));
    counts[world_.rank] = 0;
    from.resize(world_.size);
    to.resize(world_.size);
    for (int rank = 0; rank < world_.size; ++rank) {
      from[rank] = int(rank * count + offset);
      to[rank] = int((rank > world_.rank ? rank - 1 : rank) * piece);
    }
    char* const received = exchange_.pieces.with_size((world_.size - 1) * piece * bytes_of(type));
    run("MPI_Ialltoallv", [&](MPI_Request* request) {
      return MPI_Ialltoallv(whole, counts.data(), from.data(), type_of(type), received, counts.data(), to.data(),
                            type_of(type), MPI_COMM_WORLD, request);
    });
    return received;
  }

  // Kept here because MPI still reads and writes them if the wait fails.
  struct Exchange {
    std::vector<int> counts, from, to;
    KeptBuffer pieces;
  } exchange_;

  template <typename Start>
  void run(const char* call, Start&& start) {
    MpiRequest request;
    check(start(request.handle()), call);
    Backoff backoff(world_);
    while (!request.done()) backoff.pause();
  }
};

// MPIs describe themselves as "MPICH Version:      4.0.2", "Open MPI v4.1.4, package: ..." and "Intel(R) MPI Library
// 2021.16 for Linux* OS".
std::string version() {
  if (loaded_mpis().size() > 1) return HEARTH_MPI;  // either library could answer
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  if (MPI_Get_library_version(text, &length) != MPI_SUCCESS) return HEARTH_MPI;
  std::smatch number;
  const std::string described = text;
  return std::regex_search(described, number, std::regex("[0-9]+[.][0-9.]*[0-9]")) ? HEARTH_MPI " " + number.str()
                                                                                   : HEARTH_MPI;
}

const char* refusal(const char* launcher, int) {
  const std::string name = launcher;
  return name == "none" || name == "environment"
             ? "needs processes started by mpirun: use mpirun, or --ddp_backend gloo"
             : nullptr;
}

}  // namespace
}  // namespace hearth::plugins

HEARTH_EXPORT const HearthCommPlugin* hearth_comm_plugin() {
  using namespace hearth::plugins;
  return plugin_of<MpiBackend>({.name = "mpi", .library = version(), .preference = 3, .refusal = refusal});
}
