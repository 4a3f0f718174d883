// mpi BYTES ROUNDS, under mpirun.
#include <mpi.h>

#include "rounds.h"

int main(int count, char** words) {
  MPI_Init(&count, &words);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  time_rounds(
      rank, std::strtoull(words[1], nullptr, 10), std::atoi(words[2]),
      [](float* values, std::size_t size) {
        MPI_Allreduce(MPI_IN_PLACE, values, static_cast<int>(size), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
      },
      [] { MPI_Barrier(MPI_COMM_WORLD); });
  MPI_Finalize();
}
