// Each communication backend: several processes end where one does, and the backend named is the one that ran.
#include <gtest/gtest.h>

#include <cmath>

#include "hearth/io/safetensors.h"
#include "tests/apps/job.h"

namespace hearth {
namespace {

struct Backend {
  std::string name;      // of its plug-in
  std::string flag;      // --ddp_backend
  std::string launcher;  // empty: plain processes
  std::string library;   // that it must have loaded
};

const std::string kBackendsFolder = (fs::path(kProgram).parent_path().parent_path() / "backends/bin").string();

const Backend kBackends[] = {
    {"gloo", "gloo", "", "libgloo.so"},
    {"shm", "shm", "", "libhearth_comm_shm.so"},
    {"mpi_mpich", "mpi", "mpirun.mpich", "libmpich.so"},
    {"mpi_openmpi", "mpi", "mpirun.openmpi --allow-run-as-root --oversubscribe", "libmpi.so.40"},
    {"mpi_intel", "mpi", kBackendsFolder + "/mpirun", "libmpi.so.12"},
    {"ccl", "ccl", "", "libccl.so"},
};

class Backends : public ProgramTest, public testing::WithParamInterface<Backend> {
 protected:
  void SetUp() override {
    const Backend& backend = GetParam();
    if (!has_plugin(backend.name)) GTEST_SKIP() << "the plug-in " << backend.name << " was not built";
    const std::string launcher = backend.launcher.substr(0, backend.launcher.find(' '));
    if (std::system(("command -v " + (launcher.empty() ? "sh" : launcher) + " > /dev/null").c_str()) != 0)
      GTEST_SKIP() << "there is no " << launcher;
  }

  // 20 steps of 8 samples each.
  static std::string flags(const std::string& optim, int batch) {
    return fmt::format(
        "--do_train --dataloader_drop_last --max_steps 20 --save_strategy no --overwrite_output_dir --seed 3 {} "
        "--config_overrides hidden_dropout_prob=0,attention_probs_dropout_prob=0 --per_device_train_batch_size {}",
        optim, batch);
  }

  void train(int ranks, const std::string& optim) const {
    const Backend& backend = GetParam();
    const std::string words = fmt::format("{} {} --output_dir several --ddp_timeout 60 --ddp_backend {}", job(),
                                          flags(optim, 8 / ranks), backend.flag);
    const std::string variables = fmt::format("CCL_WORKER_COUNT=1 PATH={}:$PATH LD_DEBUG=files LD_DEBUG_OUTPUT={}",
                                              kBackendsFolder, (folder() / "loaded").string());
    if (backend.launcher.empty()) {
      Job all(folder(), std::vector<std::string>(static_cast<std::size_t>(ranks), words), variables);
      for (int rank = 0; rank < ranks; ++rank) {
        const Outcome outcome = all.wait(rank);
        EXPECT_EQ(outcome.status, 0) << outcome.err;
      }
    } else {
      const Outcome outcome = hearth(words, fmt::format("env MASTER_ADDR=127.0.0.1 MASTER_PORT={} {} {} -n {}",
                                                        launch::free_port(), variables, backend.launcher, ranks));
      EXPECT_EQ(outcome.status, 0) << outcome.err;
    }
    int loaded = 0;
    for (const std::string& name : names_in(folder())) {
      if (!name.starts_with("loaded.")) continue;
      const std::string files = text(name);
      loaded += contains(files, "libhearth_comm_" + backend.name) && contains(files, backend.library);
      fs::remove(folder() / name);
    }
    EXPECT_EQ(loaded, ranks);
  }
};

TEST_P(Backends, FourProcessesEndWithTheWeightsOfOne) {
  const std::string sgd = "--optim sgd --learning_rate 0.05";
  const Outcome one = run_qa(flags(sgd, 8) + " --output_dir one");
  ASSERT_EQ(one.status, 0) << one.err;
  train(4, sgd);
  const io::Safetensors expected = io::Safetensors::open(folder() / "one/model.safetensors");
  const io::Safetensors several = io::Safetensors::open(folder() / "several/model.safetensors");
  for (const std::string& name : expected.names()) {
    const Tensor a = expected.tensor(name), b = several.tensor(name);
    for (std::int64_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a.data<float>()[i], b.data<float>()[i], 1e-5) << name;
  }
}

TEST_P(Backends, TwoProcessesHaveTheLossesOfOne) {
  const Outcome one = run_qa(flags("", 4) + " --gradient_accumulation_steps 2 --output_dir one");
  ASSERT_EQ(one.status, 0) << one.err;
  const io::Json expected = json("one/trainer_state.json")["log_history"];
  ASSERT_EQ(expected.size(), 21u);
  for (const char* flag : {"", "--sharded_optimizer"}) {
    train(2, flag);
    const io::Json several = json("several/trainer_state.json")["log_history"];
    ASSERT_EQ(several.size(), 21u);
    for (std::size_t i = 0; i < 20; ++i)  // logged with four digits
      EXPECT_NEAR(expected[i]["loss"].get<double>(), several[i]["loss"].get<double>(), 1.5e-4) << i << flag;
  }
}

INSTANTIATE_TEST_SUITE_P(All, Backends, testing::ValuesIn(kBackends),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace hearth
