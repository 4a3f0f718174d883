#pragma once

// The interface between Hearth and a communication library that is loaded at run time. Only plain C types cross it, so
// that a plug-in may be built by another compiler. Hearth calls a plug-in from one thread. Every call except
// `send`, `recv` and `poll` blocks until the operation has ended. A call returns nullptr, or a sentence that says what
// failed; the sentence stays valid until the next call.

#include <stddef.h>
#include <stdint.h>

#define HEARTH_COMM_ABI 4
#define HEARTH_COMM_ENTRY "hearth_comm_plugin"
#define HEARTH_COMM_SETVARS "hearth_comm_setvars"

extern "C" {

// bf16, f16 and averages are not passed to plug-ins: Hearth composes them from these operations (docs/distributed.md).
enum HearthCommType { HEARTH_F32, HEARTH_F64, HEARTH_I32, HEARTH_I64, HEARTH_U8 };
enum HearthCommOp { HEARTH_SUM, HEARTH_PROD, HEARTH_MIN, HEARTH_MAX };
enum HearthCommLogLevel { HEARTH_LOG_INFO, HEARTH_LOG_WARNING };

// Passed to `join`: who this rank is, and Hearth's functions that a plug-in may call, from the thread of the call
// alone.
struct HearthCommWorld {
  int rank, size, local_rank, local_size;
  const char* address;       // this host's address on the network of MASTER_ADDR
  int64_t timeout_ms;        // for joining and for each operation
  size_t max_message_bytes;  // the largest message to pass to the library: 2^30, less in tests
  void* context;             // first argument of the functions below
  // The job's key-value store. `store_get` waits for the key. Both return 0, or non-zero on failure: no store, no key
  // in time, or a value larger than `capacity`.
  int (*store_set)(void* context, const char* key, const void* value, size_t size);
  int (*store_get)(void* context, const char* key, void* value, size_t capacity, size_t* size);
  // To be asked while an operation waits for other ranks. Non-zero: return an error now.
  int (*give_up)(void* context);
  // Shows the user one line. A plug-in never prints by itself.
  void (*log)(void* context, HearthCommLogLevel level, const char* message);
};

struct HearthCommPlugin {
  int abi;              // HEARTH_COMM_ABI that the plug-in was built with; Hearth reads it before anything else
  const char* name;     // gloo, shm, mpi, ccl
  const char* library;  // the library behind it, with its version: "MPICH 4.0.2"

  // Where the user names no backend, Hearth takes the one with the highest preference that does not refuse.
  int preference;
  // nullptr if ranks of this launcher (none, environment, mpich, ...; comm/world.h), on one host or on several, can use
  // the backend, otherwise why not and the way out, as the end of a sentence that begins with the backend's name:
  // "needs processes started by mpirun: use mpirun, or ...". A null pointer instead of a function: any ranks can use
  // it.
  const char* (*refusal)(const char* launcher, int several_hosts);
  // Non-zero: sending leaves time to compute, also to a rank with a single hardware thread on a host shared with all
  // others. Zero: messages are copies made by that very thread, so gradients are sent after backward there.
  int overlaps_without_threads;

  const char* (*join)(const HearthCommWorld* world, void** handle);
  // Below, `count` (in elements) and `bytes` are the size of one rank's part; `whole`, `in` and `out` hold one part per
  // rank, in the order of ranks.
  const char* (*all_reduce)(void* handle, void* data, size_t count, HearthCommType type, HearthCommOp op);
  const char* (*reduce)(void* handle, void* data, size_t count, HearthCommType type, HearthCommOp op, int root);
  // In place is allowed here and in all_gather, gather and scatter: `part` may be this rank's part of `whole`.
  const char* (*reduce_scatter)(void* handle, const void* whole, void* part, size_t count, HearthCommType type,
                                HearthCommOp op);
  const char* (*broadcast)(void* handle, void* data, size_t bytes, int root);
  const char* (*all_gather)(void* handle, const void* part, void* whole, size_t bytes);
  const char* (*gather)(void* handle, const void* part, void* whole, size_t bytes, int root);
  const char* (*scatter)(void* handle, const void* whole, void* part, size_t bytes, int root);
  const char* (*all_to_all)(void* handle, const void* in, void* out, size_t bytes);
  const char* (*barrier)(void* handle);
  // `send` and `recv` start a message. `poll` must be called until it sets `done`, and then frees the request.
  const char* (*send)(void* handle, const void* data, size_t bytes, int to, int tag, void** request);
  const char* (*recv)(void* handle, void* data, size_t bytes, int from, int tag, void** request);
  const char* (*poll)(void* handle, void* request, int* done);
  // Memory that all ranks read and write: `bytes` zeros, at an address of its own in each rank. Every rank calls
  // `share` with the same size. `unshare` gives the memory back on this rank; any thread may call it, also after
  // `leave`. Null pointers instead of functions: the ranks cannot share memory.
  const char* (*share)(void* handle, size_t bytes, void** memory);
  void (*unshare)(void* memory, size_t bytes);
  // Leaves the group. Not called after a failure, when other ranks may be gone.
  void (*leave)(void* handle);
};

// Exported by every plug-in under HEARTH_COMM_ENTRY.
typedef const HearthCommPlugin* (*HearthCommEntry)(void);

// Exported, under HEARTH_COMM_SETVARS, by plug-ins whose libraries other programs look for too: the text that a shell
// sources to find them; empty if they are not installed.
typedef const char* (*HearthCommSetvars)(void);
}
