// gloo BYTES ROUNDS FOLDER, in processes with RANK and WORLD_SIZE, which meet in the empty folder.
#include <gloo/allreduce.h>
#include <gloo/barrier.h>
#include <gloo/math.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/tcp/device.h>

#include "rounds.h"

int main(int, char** words) {
  const int rank = number_in("RANK");
  auto context = std::make_shared<gloo::rendezvous::Context>(rank, number_in("WORLD_SIZE"));
  gloo::rendezvous::FileStore store(words[3]);
  auto device = gloo::transport::tcp::CreateDevice(gloo::transport::tcp::attr("127.0.0.1"));
  context->connectFullMesh(store, device);
  time_rounds(
      rank, std::strtoull(words[1], nullptr, 10), std::atoi(words[2]),
      [&](float* values, std::size_t size) {
        gloo::AllreduceOptions options(context);
        options.setOutput(values, size);
        void (*sum)(void*, const void*, const void*, std::size_t) = &gloo::sum<float>;
        options.setReduceFunction(sum);
        gloo::allreduce(options);
      },
      [&] {
        gloo::BarrierOptions options(context);
        gloo::barrier(options);
      });
}
