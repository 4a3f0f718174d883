#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "hearth/base/error.h"
#include "hearth/io/checkpoint_folders.h"
#include "hearth/launch/plan/ports.h"
#include "tests/apps/job.h"
#include "tests/launch/launch_program.h"
#include "tests/launch/process_state.h"

namespace hearth {
namespace {

const std::string kTwo = "-q --num_processes 2 --main_process_port 0 ";

class Faults : public LaunchTest {
 protected:
  // Kills the launcher with its ranks running, and waits for their end.
  bool ranks_end_with_launcher(const std::string& flags, const std::string& before = "") const {
    launch(flags +
               "sh -c 'sleep 60 & echo $! > child_$RANK; echo $$ > pid_$RANK; wait' & launcher=$!; "
               "while ! [ -s pid_0 -a -s pid_1 ]; do sleep 0.01; done; kill -KILL $launcher; wait $launcher",
           before);
    const auto any_runs = [&] { return runs("pid_0") || runs("pid_1") || runs("child_0") || runs("child_1"); };
    for (int i = 0; i < 1000 && any_runs(); ++i) usleep(10000);
    const bool ended = !any_runs();
    for (const char* file : {"pid_0", "pid_1", "child_0", "child_1"}) fs::remove(folder() / file);
    return ended;
  }
  bool runs(const std::string& file) const { return process_runs(std::stoi(io::read_file(folder() / file))); }
};

TEST_F(Faults, ARankThatCrashes) {
  const Outcome outcome =
      launch(kTwo +
             "sh -c 'echo $$ > pid_$RANK; if [ $RANK = 1 ]; then while ! [ -s pid_0 ]; do sleep 0.01; done; echo "
             "went wrong >&2; kill -SEGV $$; fi; sleep 60'");
  EXPECT_EQ(outcome.status, 128 + SIGSEGV);
  EXPECT_TRUE(contains(outcome.err, "hearth: error: rank 1 was ended by signal 11"));
  EXPECT_TRUE(contains(outcome.err, "its last lines:\n  went wrong\n"));
  EXPECT_FALSE(runs("pid_0"));
}

TEST_F(Faults, TheStatusIsTheFailingRanks) {
  EXPECT_EQ(launch(kTwo + "sh -c 'exit $((RANK * 42))'").status, 42);
  EXPECT_EQ(launch("-q --num_processes 1 sh -c 'exit 9'").status, 9);
}

TEST_F(Faults, AHangUpThatNohupIgnoresEndsNothing) {
  const std::string nohup = "trap '' HUP;";
  const Outcome two = launch(kTwo + "sh -c 'kill -HUP $PPID; kill -HUP $$; sleep 0.2; echo alive'", nohup);
  EXPECT_EQ(two.status, 0) << two.err;
  EXPECT_TRUE(contains(two.out, "[0] alive") && contains(two.out, "[1] alive")) << two.out;
  const Outcome one = launch("-q --num_processes 1 sh -c 'kill -HUP $$; echo alive'", nohup);
  EXPECT_TRUE(one.status == 0 && contains(one.out, "alive")) << one.err;
  const std::string plain = "env --default-signal=HUP";
  EXPECT_EQ(launch(kTwo + "sh -c 'kill -HUP $PPID; sleep 60'", plain).status, 128 + SIGHUP);
}

TEST_F(Faults, AnInterruptReachesALauncherOfAScript) {
  const std::string started = "env --ignore-signal=INT --ignore-signal=QUIT";  // as `command &` is there
  EXPECT_EQ(launch(kTwo + "sh -c 'kill -INT $PPID; sleep 60'", started).status, 128 + SIGINT);
}

TEST_F(Faults, RanksEndAlsoWhereTheirEndsAreIgnored) {
  EXPECT_EQ(run_program(folder(), "launch " + kTwo + "true", "timeout -s KILL 30 env --ignore-signal=CHLD").status, 0);
}

TEST_F(Faults, ALauncherInsideOneThatIsSupervised) {
  const std::string port = " --main_process_port " + std::to_string(launch::free_port());
  const std::string inner = std::string(kProgram) + " launch -q --num_processes 2" + port + " true";
  const Outcome outcome = launch("-q --num_processes 1 --max_restarts 1 " + inner);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
}

TEST_F(Faults, APortInUse) {
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  socklen_t size = sizeof address;
  ASSERT_EQ(bind(listener, reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(listen(listener, 1), 0);
  ASSERT_EQ(getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size), 0);
  const std::string port = std::to_string(ntohs(address.sin_port));
  EXPECT_EQ(launch("--num_processes 2 --main_process_port " + port + " true").error(),
            "port " + port + " is in use on this host: choose another with --main_process_port, or 0 for any free one");
  close(listener);
  const int claimed = launch::free_port();
  EXPECT_TRUE(launch::claim_port(claimed));
  EXPECT_FALSE(launch::claim_port(claimed));  // by whom is the same
  EXPECT_TRUE(contains(launch("--num_processes 2 --main_process_port " + std::to_string(claimed) + " true").error(),
                       "is in use"));
}

TEST_F(Faults, AnUnknownHost) {
  write("hostfile", "localhost\nno-such-host.invalid\n");
  EXPECT_TRUE(contains(launch("--num_machines 2 --num_processes 2 --mpirun_hostfile hostfile true").error(),
                       "hostfile, line 2: the host 'no-such-host.invalid' cannot be resolved"));
}

TEST_F(Faults, FewerHostsThanMachines) {
  write("hostfile", "localhost\n");
  EXPECT_TRUE(contains(launch("--num_machines 2 --num_processes 2 --mpirun_hostfile hostfile true").error(),
                       "hostfile names 1 host(s), but --num_machines is 2"));
}

TEST_F(Faults, NoMpirun) {
  fs::create_directories(folder() / "empty");
  EXPECT_TRUE(contains(launch("--mpirun --num_processes 2 true", "PATH=" + (folder() / "empty").string()).error(),
                       "mpirun is not installed on this machine: install"));
}

TEST_F(Faults, MoreRanksThanCores) {
  const Outcome outcome = launch("--num_processes 6 --main_process_port 0 true",
                                 "export HWLOC_XMLFILE=" + fixture("topology/one_node.xml").string() + ";");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.err, "6 ranks share 4 core(s) of this host, with one unbound thread each"));
}

TEST_F(Faults, NoSuchTarget) {
  EXPECT_TRUE(contains(launch("--num_processes 1 run_q").error(), "cannot start 'run_q': "));
  EXPECT_TRUE(contains(launch(kTwo + "run_q").error(), "cannot start 'run_q': "));
}

TEST_F(Faults, AConfigurationThatDoesNotFit) {
  EXPECT_TRUE(
      contains(launch("--num_machines 2 --num_processes 3 true").error(), "3 processes do not divide evenly among 2"));
  EXPECT_TRUE(contains(launch("--num_machines 2 --num_processes 2 true").error(), "give --main_process_ip"));
  EXPECT_TRUE(contains(launch("--machine_rank 2 --num_processes 1 true").error(), "--machine_rank 2"));
  EXPECT_NE(launch("--config_file none.yaml true").error(), "");
}

TEST_F(Faults, NoRankOutlivesAKilledLauncher) {
  EXPECT_TRUE(ranks_end_with_launcher(kTwo));
  for (const char* kind : {"mpich", "openmpi"}) {
    const std::string path = path_of_mpirun(kind);
    if (path.empty()) GTEST_SKIP() << "there is no mpirun." << kind;
    EXPECT_TRUE(ranks_end_with_launcher(kTwo + "--mpirun ", "export " + path + ";")) << kind;
  }
}

TEST_F(Faults, UnderMpirunTheStatusIsTheFailingRanksToo) {
  const std::string path = path_of_mpirun("mpich");
  if (path.empty()) GTEST_SKIP() << "there is no mpirun.mpich";
  const Outcome outcome = launch(kTwo + "--mpirun sh -c 'exit $((RANK * 5))'", "export " + path + ";");
  EXPECT_EQ(outcome.status, 5);
  EXPECT_TRUE(contains(outcome.err, "hearth: error: mpirun ended with status 5"));
}

TEST_F(Faults, RestartsUntilItWorks) {
  const Outcome outcome = launch(
      kTwo +
      "--max_restarts 2 --log_dir logs sh -c 'echo $TORCHELASTIC_RESTART_COUNT; [ $TORCHELASTIC_RESTART_COUNT = 2 ]'");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.err, "restarting all processes, restart 2 of 2"));
  EXPECT_TRUE(contains(io::read_file(folder() / "logs/rank_0.stdout.log"), "2\n"));
  EXPECT_EQ(launch(kTwo + "--max_restarts 1 sh -c 'exit 6'").status, 6);
}

// Training would come to the same NaN again. Another program may mean something else by status 3.
TEST_F(Faults, TrainingThatStopsAtANanIsNotRestarted) {
  const std::string job = "run_qa --model_name_or_path " + start_model().string() + " --train_file " +
                          (kFixtures / "train.json").string() +
                          " --max_seq_length 64 --doc_stride 16 --max_steps 4 --disable_tqdm True --do_train "
                          "--output_dir out --learning_rate 1e30 --num_threads 1";
  const auto expect_one_start = [&](const std::string& flags) {
    const Outcome outcome = launch(flags + "--max_restarts 2 " + job);
    EXPECT_EQ(outcome.status, 3) << outcome.err;
    EXPECT_TRUE(contains(outcome.err, "training stopped at step 2, before its update")) << outcome.err;
    EXPECT_FALSE(contains(outcome.err, "restarting")) << outcome.err;
    fs::remove_all(folder() / "out");
  };
  expect_one_start("-q --num_processes 1 ");
  if (has_plugin("gloo")) expect_one_start(kTwo);
  EXPECT_TRUE(contains(launch("-q --num_processes 1 --max_restarts 1 sh -c 'exit 3'").err, "restart 1 of 1"));
}

TEST_F(Faults, ARestartOfRunQaResumes) {
  fs::create_directories(folder() / "out/eval_predictions.json/in_the_way");  // evaluation fails, after training
  const std::string job = "run_qa --model_name_or_path " + start_model().string() + " --train_file " +
                          (kFixtures / "train.json").string() + " --validation_file " +
                          (kFixtures / "dev.json").string() +
                          " --max_seq_length 64 --doc_stride 16 --max_steps 2 --save_steps 2 --disable_tqdm True "
                          "--do_train --do_eval --output_dir out --overwrite_output_dir";
  const Outcome outcome =
      launch("-q --num_processes 1 --num_cpu_threads_per_process 1 --max_restarts 1 --log_dir logs " + job);
  EXPECT_EQ(outcome.status, 1);
  EXPECT_TRUE(contains(outcome.err, "restarting all processes, restart 1 of 1"));
  EXPECT_TRUE(contains(outcome.out, "resuming from out/checkpoint-2: step 2 of 2")) << outcome.out;
}

class TrainingFaults : public Faults {
 protected:
  void SetUp() override {
    const fs::path plugins = fs::path(kProgram).parent_path().parent_path() / "lib/hearth";
    if (!fs::exists(plugins / "libhearth_comm_gloo.so")) GTEST_SKIP() << "the plug-in gloo was not built";
  }
  static std::string run_qa(const std::string& flags) {
    return "run_qa --model_name_or_path " + start_model().string() + " --train_file " +
           (kFixtures / "train.json").string() +
           " --max_seq_length 64 --doc_stride 16 --logging_steps 1 --disable_tqdm True --do_train --output_dir out " +
           flags;
  }
  // Sends the launcher a signal when training runs.
  Outcome interrupted_by(const std::string& signal, const std::string& flags, const std::string& before = "") const {
    fs::remove_all(folder() / "out");
    return launch(
        kTwo + flags + run_qa("--max_steps 1000000 --save_strategy no") +
            " & launcher=$!; while kill -0 $launcher && ! grep -q '\"loss\"' .out; do sleep 0.02; done; kill -" +
            signal + " $launcher; wait $launcher",
        before);
  }
};

// The other rank ends as soon as it hears of the failure, and then the launcher ends the rank that failed. Only rank 0
// looks into the output folder.
TEST_F(TrainingFaults, TheErrorOfTheRankThatFailedIsShown) {
  const auto expect_error = [&](const std::string& flags, const std::string& sentence) {
    const Outcome outcome = launch(kTwo + run_qa(flags));
    EXPECT_EQ(outcome.status, 1);
    EXPECT_TRUE(contains(outcome.err, "[0] hearth: error: rank 0: " + sentence)) << outcome.err;
    EXPECT_TRUE(contains(outcome.err, "\nhearth: error: rank 0 ")) << outcome.err;
  };
  expect_error("--doc_stride 63", "--doc_stride 63 is too large");
  expect_error("--resume_from_checkpoint True", "--resume_from_checkpoint: there is no checkpoint in out");
  write("file", "");
  expect_error("--output_dir file", "--output_dir file: ");
  fs::create_symlink("loop", folder() / "loop");
  const std::string loop = (folder() / "loop").string();
  expect_error("--output_dir loop", loop + ": Too many levels of symbolic links");  // not an Error of Hearth's own
}

TEST_F(TrainingFaults, ASignalSavesACheckpointAndRestartsNothing) {
  for (const char* signal : {"TERM", "USR1"}) {
    const Outcome outcome = interrupted_by(signal, "--max_restarts 1 ");
    EXPECT_EQ(outcome.status, 75) << outcome.err;
    EXPECT_TRUE(contains(outcome.err, fmt::format("[0] warning: rank 0: stopped by SIG{} after step", signal)));
    EXPECT_TRUE(contains(outcome.err, "warning: the job was stopped by a signal and can be resumed (status 75)"));
    EXPECT_FALSE(outcome.err.find("restarting") != outcome.err.npos || outcome.err.find("error") != outcome.err.npos)
        << outcome.err;
    EXPECT_TRUE(io::last_checkpoint(folder() / "out").has_value());
  }
}

// Open MPI's mpirun passes on no other signal.
TEST_F(TrainingFaults, ASignalSavesACheckpointUnderMpirun) {
  for (const auto& [kind, signal] : {std::pair("mpich", "TERM"), std::pair("openmpi", "USR1")}) {
    const std::string path = path_of_mpirun(kind);
    if (path.empty()) GTEST_SKIP() << "there is no mpirun." << kind;
    const Outcome outcome = interrupted_by(signal, "--mpirun ", "export " + path + ";");
    EXPECT_EQ(outcome.status, 75) << kind << outcome.err;
    EXPECT_TRUE(contains(outcome.err, fmt::format("stopped by SIG{} after step", signal))) << kind;
    EXPECT_TRUE(io::last_checkpoint(folder() / "out").has_value()) << kind;
  }
}

TEST_F(Faults, TheGracePeriodEnds) {
  const Outcome outcome = launch(
      kTwo +
      "--grace_period 1 sh -c 'trap \"\" TERM; echo $$ > pid_$RANK; if [ $RANK = 0 ]; then while ! [ -s pid_1 ]; "
      "do sleep 0.01; done; kill -TERM $PPID; fi; while true; do sleep 0.02; done'");
  EXPECT_EQ(outcome.status, 128 + SIGKILL) << outcome.err;
}

TEST_F(Faults, ASignalReachesTheRanks) {
  const Outcome outcome =
      launch(kTwo +
             "sh -c 'trap \"echo stopping; exit 3\" TERM; echo $$ > pid_$RANK; if [ $RANK = 0 ]; then while "
             "! [ -s pid_1 ]; do sleep 0.01; done; kill -TERM $PPID; fi; while true; do sleep 0.02; done'");
  EXPECT_EQ(outcome.status, 3) << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "[0] stopping\n"));
  EXPECT_TRUE(contains(outcome.out, "[1] stopping\n"));
  EXPECT_FALSE(runs("pid_0"));
  EXPECT_FALSE(runs("pid_1"));
}

}  // namespace
}  // namespace hearth
