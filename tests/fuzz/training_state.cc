// The JSON files of a checkpoint. The first byte of the input chooses the file that has the rest.
#include "hearth/train/checkpoint.h"
#include "tests/fuzz/fuzz.h"

using namespace hearth;

namespace {

class OneWeight final : public nn::Model {
 public:
  OneWeight() {
    (root() / "layer").parameter("weight", {2, 2}, nn::Init::zeros());
    initialise(1);
  }
  nn::ModelOutput forward(ops::Context&, const BatchPtr&) override { return {}; }
};

// A run that has a checkpoint.
struct Run {
  OneWeight model;
  parallel::DistributedDataParallel ddp{model.parameters()};
  parallel::ShardedOptimizer optimizer{{}, ddp};
  optim::LossScaler scaler{true};
  optim::Plateau plateau{{}, 1e-3};
  TrainerState state;
  SavedProgress progress{model, optimizer, scaler, state, &plateau};
  std::filesystem::path folder = fuzz::scratch() / "checkpoint";

  Run() { save(); }
  void save() {
    std::filesystem::create_directories(folder);
    model.save_pretrained(folder);
    save_progress(progress, optimizer.state(), folder);
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz::run(data, size, [](std::string_view bytes) {
    static Run run;
    constexpr std::string_view kFiles[] = {"trainer_state.json", "scheduler.json", "scaler.json"};
    if (bytes.empty()) return;
    const std::filesystem::path name = kFiles[static_cast<unsigned char>(bytes[0]) % std::size(kFiles)];
    std::filesystem::rename(run.folder / name, run.folder / "good");
    fuzz::write("checkpoint" / name, bytes.substr(1));
    fuzz::attempt([&] {
      load_progress(run.progress, run.folder);
      run.state.to_json();
    });
    std::filesystem::rename(run.folder / "good", run.folder / name);
  });
}
