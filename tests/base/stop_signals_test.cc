#include "hearth/base/stop_signals.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>

namespace hearth {
namespace {

constexpr int kAlive = 3;

// Deeds of a process of its own, which ends with kAlive if no signal ends it.
template <class Body>
[[noreturn]] void alive_after(const Body& body) {
  body();
  _exit(kAlive);
}

TEST(StopSignals, TheFirstIsNoted) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1})
    EXPECT_EXIT(alive_after([&] {
                  std::signal(signal, SIG_DFL);
                  catch_stop_signals();
                  if (caught_stop_signal() != 0) _exit(1);
                  raise(signal);
                  if (caught_stop_signal() != signal) _exit(2);
                }),
                testing::ExitedWithCode(kAlive), "");
}

TEST(StopSignals, ALaterOneEndsTheProcess) {
  EXPECT_EXIT(alive_after([] {
                catch_stop_signals();
                raise(SIGTERM);
                usleep(1'100'000);
                raise(SIGUSR1);
              }),
              testing::KilledBySignal(SIGUSR1), "");
}

TEST(StopSignals, OneRequestMayArriveTwice) {
  EXPECT_EXIT(alive_after([] {
                std::signal(SIGINT, SIG_DFL);
                catch_stop_signals();
                sigset_t all;
                sigfillset(&all);
                sigprocmask(SIG_BLOCK, &all, nullptr);  // both arrive when they are let in
                raise(SIGINT);
                raise(SIGTERM);
                sigprocmask(SIG_UNBLOCK, &all, nullptr);
              }),
              testing::ExitedWithCode(kAlive), "");
}

TEST(StopSignals, IgnoredOnesStayIgnored) {
  EXPECT_EXIT(alive_after([] {
                std::signal(SIGHUP, SIG_IGN);
                catch_stop_signals();
                raise(SIGHUP);
                if (caught_stop_signal() != 0) _exit(1);
                release_stop_signals();
                raise(SIGHUP);
              }),
              testing::ExitedWithCode(kAlive), "");
}

TEST(StopSignals, OnceReleasedTheyEndTheProcess) {
  EXPECT_EXIT(alive_after([] {
                catch_stop_signals();
                release_stop_signals();
                raise(SIGUSR1);
              }),
              testing::KilledBySignal(SIGUSR1), "");
  EXPECT_EXIT(alive_after([] {
                catch_stop_signals();
                raise(SIGTERM);
                release_stop_signals();
              }),
              testing::KilledBySignal(SIGTERM), "");
}

TEST(StopSignals, AHandlerOfTheProgramGetsThemBack) {
  const auto end_with_number = [](int signal) { _exit(40 + signal); };
  EXPECT_EXIT(alive_after([&] {
                std::signal(SIGINT, end_with_number);
                catch_stop_signals();
                raise(SIGINT);
                if (caught_stop_signal() != SIGINT) _exit(1);
                release_stop_signals();
              }),
              testing::ExitedWithCode(40 + SIGINT), "");
  EXPECT_EXIT(alive_after([&] {
                std::signal(SIGTERM, end_with_number);
                for (int times = 0; times < 2; ++times) {
                  catch_stop_signals();
                  release_stop_signals();
                }
                raise(SIGTERM);
              }),
              testing::ExitedWithCode(40 + SIGTERM), "");
}

TEST(StopSignals, HaveNames) {
  EXPECT_EQ(name_of_signal(SIGTERM), "SIGTERM");
  EXPECT_EQ(name_of_signal(SIGUSR1), "SIGUSR1");
}

}  // namespace
}  // namespace hearth
