// ccl BYTES ROUNDS FOLDER, under Intel's mpirun, or in processes with RANK and WORLD_SIZE and the variables that oneCCL
// wants there; the store's address goes through the empty folder.
#include <unistd.h>

#include <fstream>
#include <oneapi/ccl.hpp>
#include <string>

#include "rounds.h"

int main(int, char** words) {
  const bool plain = number_in("RANK") >= 0;
  const int rank = number_in(plain ? "RANK" : "PMI_RANK"), size = number_in(plain ? "WORLD_SIZE" : "PMI_SIZE");
  const std::string path = std::string(words[3]) + "/address", unfinished = path + ".unfinished";
  ccl::init();
  ccl::shared_ptr_class<ccl::kvs> store;
  if (rank == 0) {
    store = ccl::create_main_kvs();
    const auto address = store->get_address();
    std::ofstream(unfinished, std::ios::binary).write(address.data(), address.size());
    std::rename(unfinished.c_str(), path.c_str());
  } else {
    while (access(path.c_str(), R_OK) != 0) usleep(10'000);
    ccl::kvs::address_type address;
    std::ifstream(path, std::ios::binary).read(address.data(), address.size());
    store = ccl::create_kvs(address);
  }
  auto communicator = ccl::create_communicator(size, rank, store);
  time_rounds(
      rank, std::strtoull(words[1], nullptr, 10), std::atoi(words[2]),
      [&](float* values, std::size_t count) {
        ccl::allreduce(values, values, count, ccl::reduction::sum, communicator).wait();
      },
      [&] { ccl::barrier(communicator).wait(); });
}
