#include "plugins/backend.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace hearth::plugins {
namespace {

// One rank of two, whose exchanges begin and then fail, as where the other rank is gone.
class Deserted : public Backend {
 public:
  using Backend::Backend;
  void all_to_all(const void* in, void* out, std::size_t bytes) override {
    given_in = static_cast<const char*>(in);
    given_out = static_cast<char*>(out);
    given_bytes = bytes * world_.size;
    throw std::runtime_error("timed out");
  }

  void all_reduce(void*, std::size_t, Type, Op) override {}
  void reduce(void*, std::size_t, Type, Op, int) override {}
  void reduce_scatter(const void*, void*, std::size_t, Type, Op) override {}
  void broadcast(void*, std::size_t, int) override {}
  void all_gather(const void*, void*, std::size_t) override {}
  void gather(const void*, void*, std::size_t, int) override {}
  void scatter(const void*, void*, std::size_t, int) override {}
  void barrier() override {}
  std::unique_ptr<Request> send(const void*, std::size_t, int, int) override { return nullptr; }
  std::unique_ptr<Request> recv(void*, std::size_t, int, int) override { return nullptr; }
  void leave() override {}

  const char* given_in = nullptr;
  char* given_out = nullptr;
  std::size_t given_bytes = 0;
};

TEST(PluginBackend, MemoryOfAnExchangeThatFailedIsNotGivenToOthers) {
  HearthCommWorld world{};
  world.size = world.local_size = 2;
  world.max_message_bytes = 4096;
  const HearthCommPlugin& plugin = *plugin_of<Deserted>({.name = "deserted", .library = "none"});
  void* handle = nullptr;
  ASSERT_EQ(plugin.join(&world, &handle), nullptr);
  std::vector<char> in(1 << 16), out(1 << 16);
  EXPECT_STREQ(plugin.all_to_all(handle, in.data(), out.data(), in.size() / 2), "timed out");

  auto* backend = static_cast<Deserted*>(handle);
  ASSERT_EQ(backend->given_bytes, 4096u);
  const std::vector<char> zeros(backend->given_bytes);
  const std::vector<std::vector<char>> of_others(4, zeros);
  std::memset(backend->given_out, 1, backend->given_bytes);  // the library, too late
  for (const std::vector<char>& memory : of_others) {
    EXPECT_EQ(memory, zeros);
    EXPECT_NE(memory.data(), backend->given_in);
  }
  plugin.leave(handle);
}

}  // namespace
}  // namespace hearth::plugins
