#include "hearth/cpu/isa.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <string>
#include <thread>
#include <vector>

#include "hearth/base/error.h"
#include "hearth/cpu/amx_probe.h"

namespace hearth::cpu {
namespace {

class IsaCap : public testing::Test {
 protected:
  ~IsaCap() override { set_max_isa(""); }
};

TEST(Isa, NamesInOrder) {
  std::vector<std::string> names;
  for (const Isa isa : all_isas()) names.emplace_back(name_of(isa));
  EXPECT_EQ(names, (std::vector<std::string>{"avx2", "avx512", "avx512_vnni", "avx512_bf16", "avx512_fp16", "amx"}));
  EXPECT_TRUE(std::is_sorted(all_isas().begin(), all_isas().end()));
}

TEST(Isa, AgreesWithTheCompilersDetection) {
  const Features& f = features();
  EXPECT_FALSE(f.model.empty());
  EXPECT_EQ(f.intel, __builtin_cpu_is("intel") != 0);
  EXPECT_EQ(f.amd, __builtin_cpu_is("amd") != 0);
  EXPECT_EQ(f.avx2, __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
                        __builtin_cpu_supports("bmi2"));
  EXPECT_EQ(f.avx512, __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                          __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
                          __builtin_cpu_supports("avx512cd"));
  EXPECT_EQ(f.avx512_vnni, __builtin_cpu_supports("avx512vnni") != 0);
  EXPECT_EQ(f.avx512_bf16, __builtin_cpu_supports("avx512bf16") != 0);
}

TEST(Isa, AmxCountsOnlyWhenTried) {
  const Features& f = features();
  EXPECT_EQ(f.amx_granted, f.amx_bf16 && kernel_grants_tiles());
  EXPECT_EQ(f.amx_usable, f.amx_granted && tile_product_works());
  if (!f.amx_bf16) {
    EXPECT_FALSE(f.amx_palette_hidden);
  }
}

TEST(Isa, AnIllegalInstructionEndsOnlyTheChild) {
  if (features().amx_bf16) GTEST_SKIP() << "this processor announces AMX";
  EXPECT_FALSE(tile_product_works());
}

Features machine_with(std::initializer_list<bool Features::*> flags) {
  Features f;
  f.model = "a made-up processor";
  for (bool Features::*flag : flags) f.*flag = true;
  return f;
}

TEST(Isa, ALevelNeedsThoseBeforeIt) {
  using F = Features;
  EXPECT_EQ(highest_isa(machine_with({&F::avx2})), Isa::avx2);
  EXPECT_EQ(highest_isa(machine_with({&F::avx2, &F::avx512, &F::avx512_vnni})), Isa::avx512_vnni);
  EXPECT_EQ(highest_isa(machine_with({&F::avx2, &F::avx512, &F::avx512_bf16, &F::avx512_fp16})), Isa::avx512);
  EXPECT_EQ(highest_isa(machine_with({&F::avx2, &F::avx512, &F::avx512_vnni, &F::amx_usable})), Isa::avx512_vnni);
  try {
    highest_isa(machine_with({&F::avx512}));
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("(a made-up processor)"), std::string::npos) << error.what();
  }
}

TEST(Isa, AmxMayComeWithoutHalfPrecisionVectors) {
  using F = Features;
  Features f = machine_with({&F::avx2, &F::avx512, &F::avx512_vnni, &F::avx512_bf16, &F::amx_usable});
  EXPECT_EQ(highest_isa(f), Isa::amx);
  EXPECT_EQ(highest_isa(f, Isa::avx512_fp16), Isa::avx512_bf16);
  EXPECT_EQ(highest_isa(f, Isa::avx512), Isa::avx512);
  f.avx512_fp16 = true;
  EXPECT_EQ(highest_isa(f), Isa::amx);
  EXPECT_EQ(highest_isa(f, Isa::avx512_fp16), Isa::avx512_fp16);
}

TEST_F(IsaCap, IsTheLowerOfCapAndMachine) {
  for (const Isa cap : all_isas()) {
    set_max_isa(name_of(cap));
    EXPECT_EQ(isa(), highest_isa(features(), cap)) << name_of(cap);
    EXPECT_LE(isa(), cap);
  }
  set_max_isa("avx2");
  EXPECT_EQ(isa(), Isa::avx2);
  set_max_isa("");
  EXPECT_EQ(isa(), highest_isa());
}

TEST_F(IsaCap, UnknownNameListsTheValuesAndChangesNothing) {
  set_max_isa("avx2");
  for (const char* name : {"sse4", "AVX2", "avx512 ", "amx_fp16"}) {
    try {
      set_max_isa(name);
      FAIL() << name;
    } catch (const Error& error) {
      const std::string message = error.what();
      EXPECT_NE(message.find(std::string("\"") + name + "\""), std::string::npos) << message;
      for (const Isa isa : all_isas()) EXPECT_NE(message.find(name_of(isa)), std::string::npos) << message;
    }
  }
  EXPECT_EQ(isa(), Isa::avx2);
}

// Each in a process of its own, where nothing has asked for the level yet.
class IsaEnvironment : public testing::Test {
 protected:
  IsaEnvironment() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }

  [[noreturn]] static void print_isa() {
    try {
      std::fprintf(stderr, "in use: %s\n", std::string(name_of(isa())).c_str());
      _exit(0);
    } catch (const Error& error) {
      std::fprintf(stderr, "%s\n", error.what());
      _exit(1);
    }
  }

  [[noreturn]] static void print_isa_with(const char* value) {
    setenv("HEARTH_MAX_ISA", value, 1);
    print_isa();
  }

  [[noreturn]] static void print_isa_after_call_with(const char* value) {
    setenv("HEARTH_MAX_ISA", value, 1);
    set_max_isa("");
    print_isa();
  }

  [[noreturn]] static void print_isa_of_threads_with(const char* value) {
    setenv("HEARTH_MAX_ISA", value, 1);
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i)
      threads.emplace_back([] {
        if (isa() != Isa::avx2) _exit(2);
      });
    for (std::thread& thread : threads) thread.join();
    print_isa();
  }
};

TEST_F(IsaEnvironment, Caps) { EXPECT_EXIT(print_isa_with("avx2"), testing::ExitedWithCode(0), "in use: avx2"); }

TEST_F(IsaEnvironment, EmptyIsNoCap) {
  const std::string expected = "in use: " + std::string(name_of(highest_isa())) + "\n";
  EXPECT_EXIT(print_isa_with(""), testing::ExitedWithCode(0), expected);
}

TEST_F(IsaEnvironment, ACallComesFirst) {
  const std::string expected = "in use: " + std::string(name_of(highest_isa())) + "\n";
  EXPECT_EXIT(print_isa_after_call_with("avx2"), testing::ExitedWithCode(0), expected);
}

TEST_F(IsaEnvironment, HoldsForThreadsThatAskAtOnce) {
  EXPECT_EXIT(print_isa_of_threads_with("avx2"), testing::ExitedWithCode(0), "in use: avx2");
}

TEST_F(IsaEnvironment, BadValueIsAnErrorThatNamesTheVariable) {
  EXPECT_EXIT(print_isa_with("avx1024"), testing::ExitedWithCode(1),
              "HEARTH_MAX_ISA: unknown instruction set \"avx1024\"; the values are avx2, avx512, avx512_vnni, "
              "avx512_bf16, avx512_fp16, amx");
}

}  // namespace
}  // namespace hearth::cpu
