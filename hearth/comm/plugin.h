#pragma once

// The contract between Hearth and an engine of communication that is loaded at run time. Plain C types alone cross it,
// so that a plug-in may be built by another compiler. Every call comes from one thread, the group's own, and blocks;
// it returns nullptr, or a sentence that says what failed and stays valid until the next call.

#include <stddef.h>
#include <stdint.h>

#define HEARTH_COMM_ABI 1
#define HEARTH_COMM_ENTRY "hearth_comm_plugin"
#define HEARTH_COMM_SETVARS "hearth_comm_setvars"

extern "C" {

enum HearthCommType { HEARTH_F32, HEARTH_F64, HEARTH_I32, HEARTH_I64, HEARTH_U8 };
enum HearthCommOp { HEARTH_SUM, HEARTH_PROD, HEARTH_MIN, HEARTH_MAX };

// What a plug-in is given to join the others.
struct HearthCommWorld {
  int rank, size, local_rank, local_size;
  const char* address;       // this host's address on the network of MASTER_ADDR
  int64_t timeout_ms;        // of joining and of each operation
  size_t max_message_bytes;  // a message to the library is no larger: 2^30, less in tests
  void* context;             // first argument of the functions below
  // The job's store. `get` waits for the key; non-zero: it did not come in time.
  int (*store_set)(void* context, const char* key, const void* value, size_t size);
  int (*store_get)(void* context, const char* key, void* value, size_t capacity, size_t* size);
  // Asked while an operation waits for others; non-zero: return an error now.
  int (*give_up)(void* context);
};

struct HearthCommPlugin {
  int abi;              // HEARTH_COMM_ABI of the plug-in's build; read before anything else
  const char* name;     // gloo, mpi, ccl
  const char* library;  // what it speaks to, with its version: "MPICH 4.0.2"

  const char* (*join)(const HearthCommWorld* world, void** engine);
  const char* (*all_reduce)(void* engine, void* data, size_t count, HearthCommType type, HearthCommOp op);
  const char* (*reduce)(void* engine, void* data, size_t count, HearthCommType type, HearthCommOp op, int root);
  // Here, and in all_gather, gather and scatter, the part may lie in its place of the whole.
  const char* (*reduce_scatter)(void* engine, const void* whole, void* part, size_t count, HearthCommType type,
                                HearthCommOp op);
  const char* (*broadcast)(void* engine, void* data, size_t bytes, int root);
  const char* (*all_gather)(void* engine, const void* part, void* whole, size_t bytes);
  const char* (*gather)(void* engine, const void* part, void* whole, size_t bytes, int root);
  const char* (*scatter)(void* engine, const void* whole, void* part, size_t bytes, int root);
  const char* (*all_to_all)(void* engine, const void* in, void* out, size_t bytes);
  const char* (*barrier)(void* engine);
  // Started here, finished when `poll` says so; a started one must be polled until then.
  const char* (*send)(void* engine, const void* data, size_t bytes, int to, int tag, void** request);
  const char* (*recv)(void* engine, void* data, size_t bytes, int from, int tag, void** request);
  const char* (*poll)(void* engine, void* request, int* done);
  // Leaves in order; not called after a failure, when others may be gone.
  void (*leave)(void* engine);
};

// Exported by every plug-in under HEARTH_COMM_ENTRY.
typedef const HearthCommPlugin* (*HearthCommEntry)(void);

// Exported, under HEARTH_COMM_SETVARS, by plug-ins whose libraries other programs look for too: what a shell sources to
// find them; empty where they are not there.
typedef const char* (*HearthCommSetvars)(void);
}
