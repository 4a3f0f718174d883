#include "hearth/accelerate/program.h"

#include <fmt/format.h>

#include <cstdio>

#include "hearth/accelerate/failure.h"
#include "hearth/base/text_layout.h"
#include "hearth/comm/world.h"

namespace hearth {
namespace {

std::string with_rank(const std::string& sentence) {
  try {
    const comm::World world = comm::world_from_environment();
    return world.size == 1 ? sentence : fmt::format("rank {}: {}", world.rank, sentence);
  } catch (const std::exception&) {
    return sentence;  // which may well say what is wrong with the environment
  }
}

}  // namespace

int run_program(const std::string& name, const std::function<void()>& body) {
  try {
    body();
    return 0;
  } catch (const std::exception& error) {
    const std::string line = fmt::format("{}: error: {}\n", name, printable_lines(with_rank(sentence_of(error))));
    std::fflush(stdout);
    std::fputs(line.c_str(), stderr);
    return status_of(error);
  }
}

}  // namespace hearth
