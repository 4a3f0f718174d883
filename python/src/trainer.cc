#include "hearth/train/trainer.h"

#include <algorithm>

#include "bindings.h"
#include "convert.h"
#include "datasets.h"
#include "hearth/accelerate/failure.h"
#include "hearth/apps/memory_check.h"
#include "hearth/apps/run_report.h"
#include "hearth/base/check.h"
#include "hearth/base/profiler.h"
#include "hearth/base/stop_signals.h"
#include "hearth/comm/world.h"
#include "hearth/io/file.h"
#include "hearth/io/json.h"
#include "hearth/models/pretrained.h"
#include "hearth/train/output_dir.h"
#include "hearth/train/program_flags.h"
#include "hearth/train/results.h"
#include "hearth/train/trainer_state.h"
#include "settings.h"

namespace hearth::python {
namespace {

// Rows of a dataset's items, `width` numbers per position, as one array: (items, row) or, where rows differ in length,
// filled up with -100, as the Trainer does it. With a width above 0: (items, positions, width).
nb::object padded_rows(const ItemValues& values, std::int64_t width) {
  std::size_t longest = 0;
  for (std::int64_t i = 0; i < values.size(); ++i) longest = std::max(longest, values[i].size());
  std::vector<float> all(static_cast<std::size_t>(values.size()) * longest, -100.0f);
  for (std::int64_t i = 0; i < values.size(); ++i)
    std::ranges::copy(values[i], all.begin() + i * static_cast<std::int64_t>(longest));
  const auto items = static_cast<std::size_t>(values.size());
  if (width == 0) return array_of(std::move(all), {items, longest});
  const auto columns = static_cast<std::size_t>(width);
  return array_of(std::move(all), {items, longest / columns, columns});
}

constexpr const char* kLogits[] = {"logits", "start_logits", "end_logits", "predictions"};
constexpr const char* kLabels[] = {"labels", "start_positions", "end_positions"};

template <std::size_t N, class Get>
nb::dict arrays_of(const char* const (&names)[N], std::int64_t width, const Get& get) {
  nb::dict arrays;
  for (const char* name : names) {
    try {
      arrays[name] = padded_rows(get(name), width);
    } catch (const Error&) {  // there is no such name
    }
  }
  return arrays;
}

// Logits and labels by name. `width` is the number of logits per token, 0 where they belong to texts.
nb::tuple values_of(const EvalPrediction& prediction, std::int64_t width) {
  return nb::make_tuple(
      arrays_of(kLogits, width, [&](const char* name) -> const ItemValues& { return prediction.logits(name); }),
      arrays_of(kLabels, 0, [&](const char* name) -> const ItemValues& { return prediction.labels(name); }));
}

nb::dict to_python(const TrainingProgress& progress) {
  nb::dict dict;
  dict["global_step"] = progress.global_step;
  dict["max_steps"] = progress.max_steps;
  dict["num_train_epochs"] = progress.num_train_epochs;
  dict["epoch"] = progress.epoch;
  dict["best_metric"] = progress.best_metric ? nb::cast(*progress.best_metric) : nb::object(nb::none());
  dict["is_world_process_zero"] = progress.is_world_process_zero;
  return dict;
}

// Calls event(name, progress, control, payload) in Python; control is a dict that Python may change.
class PythonCallback final : public TrainerCallback {
 public:
  explicit PythonCallback(nb::object event) : event_(std::move(event)) {}

  void on_train_begin(const TrainingProgress& p, TrainerControl& c) override { call("on_train_begin", p, c); }
  void on_epoch_begin(const TrainingProgress& p, TrainerControl& c) override { call("on_epoch_begin", p, c); }
  void on_step_begin(const TrainingProgress& p, TrainerControl& c) override { call("on_step_begin", p, c); }
  void on_step_end(const TrainingProgress& p, TrainerControl& c) override { call("on_step_end", p, c); }
  void on_epoch_end(const TrainingProgress& p, TrainerControl& c) override { call("on_epoch_end", p, c); }
  void on_log(const TrainingProgress& p, TrainerControl& c, const Metrics& row) override { call("on_log", p, c, row); }
  void on_evaluate(const TrainingProgress& p, TrainerControl& c, const Metrics& metrics) override {
    call("on_evaluate", p, c, metrics);
  }
  void on_save(const TrainingProgress& p, TrainerControl& c, const std::filesystem::path&) override {
    call("on_save", p, c);
  }
  void on_train_end(const TrainingProgress& p, TrainerControl& c) override { call("on_train_end", p, c); }

 private:
  void call(const char* name, const TrainingProgress& progress, TrainerControl& control, const Metrics& payload = {}) {
    const Span span("Python callbacks");
    const nb::gil_scoped_acquire gil;
    const std::pair<const char*, bool*> members[] = {{"should_training_stop", &control.should_training_stop},
                                                     {"should_evaluate", &control.should_evaluate},
                                                     {"should_save", &control.should_save},
                                                     {"should_log", &control.should_log}};
    nb::dict asked;
    for (const auto& [member, value] : members) asked[member] = *value;
    event_.get()(name, to_python(progress), asked, python::to_python(payload));
    for (const auto& [member, value] : members) *value = nb::cast<bool>(asked[member]);
  }

  Held event_;
};

// Ends an evaluation between two batches after Ctrl-C.
struct Interrupted {};
class StoppableDataset final : public Dataset {
 public:
  explicit StoppableDataset(DatasetPtr data) : data_(std::move(data)) {}
  std::int64_t size() const override { return data_->size(); }
  std::int64_t length(std::int64_t item) const override { return data_->length(item); }
  BatchPtr collate(std::span<const std::int64_t> items, std::uint32_t first_sample) const override {
    if (caught_stop_signal() != 0) throw Interrupted();
    return data_->collate(items, first_sample);
  }

 private:
  DatasetPtr data_;
};

// While it lives, signals are noted. Then they have their effect in Python again, also the one that was noted.
struct NotedSignals {
  NotedSignals() { catch_stop_signals(); }
  ~NotedSignals() { release_stop_signals(); }
  NotedSignals(const NotedSignals&) = delete;
  NotedSignals& operator=(const NotedSignals&) = delete;
};

// What a Trainer calls in Python; members may be None.
struct Hooks {
  nb::object event, compute_metrics, save_beside;
};

// A Trainer of the library with what Python adds to it.
class Job {
 public:
  Job(std::shared_ptr<models::Pretrained> model, const Settings& settings, const DatasetHandle* train,
      const DatasetHandle* eval, std::int64_t width, Hooks hooks)
      : model_(std::move(model)), width_(width), flags_(settings.options.values()), team_(process_team(settings.args)) {
    TrainingArguments args = settings.args;
    TrainerOptions options;
    if (train != nullptr) options.train_dataset = train->data;
    if (eval != nullptr) options.eval_dataset = eval->data;
    if (!hooks.event.is_none()) options.callbacks.push_back(std::make_shared<PythonCallback>(std::move(hooks.event)));
    if (!hooks.compute_metrics.is_none())
      options.compute_metrics =
          [this, held = std::make_shared<Held>(std::move(hooks.compute_metrics))](const EvalPrediction& prediction) {
            const nb::gil_scoped_acquire gil;
            return to_metrics(nb::cast<nb::dict>(held->get()(values_of(prediction, width_))));
          };
    options.save_beside =
        [this, held = std::make_shared<Held>(std::move(hooks.save_beside))](const std::filesystem::path& folder) {
          io::replace_file(folder / "training_args.json", io::dump_json(to_json(flags_), 2) + "\n");
          const nb::gil_scoped_acquire gil;
          if (!held->get().is_none()) held->get()(folder.string());
        };
    options.team = team_;
    options.flags = flags_;
    options.stop_requested = [] { return caught_stop_signal() != 0; };
    const nb::gil_scoped_release without_gil;
    if (train != nullptr && train->data->size() > 0)
      args.per_device_train_batch_size =
          apps::check_memory(*model_, args, *train->data, team_, comm::world_from_environment().local_size);
    trainer_.emplace(model_, std::move(args), std::move(options));
  }

  nb::dict train(const std::optional<std::string>& resume) {
    Metrics metrics;
    in_team([&] {
      TrainingArguments args = trainer_->arguments();
      args.do_train = true;
      args.resume_from_checkpoint = resume;
      std::optional<OutputDirLock> held;
      if (team_.is_first()) held.emplace(args);
      std::string checkpoint;
      if (resume && team_.is_first()) checkpoint = find_resume_checkpoint(args).value_or("").string();
      checkpoint = team_.broadcast(std::move(checkpoint));
      metrics = trainer_->train(checkpoint.empty() ? std::nullopt : std::optional<std::filesystem::path>(checkpoint));
      if (!trainer_->was_interrupted()) return;
      if (team_.is_first()) apps::log_interruption(caught_stop_signal(), args, *trainer_);
      team_.barrier();
    });
    return python::to_python(metrics);
  }

  nb::dict evaluate(const DatasetHandle* data) {
    Metrics metrics;
    in_team([&] {
      metrics = trainer_->evaluate(data == nullptr ? nullptr : std::make_shared<StoppableDataset>(data->data));
    });
    return python::to_python(metrics);
  }

  nb::tuple predict(const DatasetHandle& data, const std::string& prefix) {
    std::optional<PredictionOutput> output;
    in_team([&] { output = trainer_->predict(StoppableDataset(data.data), prefix); });
    return nb::make_tuple(values_of(output->values, width_), python::to_python(output->metrics));
  }

  void save_model(const std::string& folder) {
    in_team([&] { trainer_->save_model(folder); });
  }

  nb::object state() const { return python::to_python(trainer_->state().to_json()); }
  const Trainer& trainer() const { return *trainer_; }

 private:
  // Runs without the GIL, with signals noted. A failure is told to the other ranks, a signal to Python.
  template <class Work>
  void in_team(const Work& work) {
    {
      const nb::gil_scoped_release without_gil;
      const NotedSignals noted;
      try {
        work();
      } catch (const Interrupted&) {
      } catch (const std::exception& error) {
        if (team_.size() > 1) team_.group().report_failure(sentence_of(error));
        throw;
      }
    }
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
  }

  std::shared_ptr<models::Pretrained> model_;
  std::int64_t width_;
  std::vector<Arguments::Resolved> flags_;
  const parallel::Team& team_;
  std::optional<Trainer> trainer_;
};

}  // namespace

void bind_trainer(nb::module_& m) {
  nb::class_<Job>(m, "Job")
      .def(
          "__init__",
          [](Job* self, std::shared_ptr<models::Pretrained> model, const Settings& settings, const DatasetHandle* train,
             const DatasetHandle* eval, std::int64_t width, nb::object event, nb::object compute_metrics,
             nb::object save_beside) {
            {
              const nb::gil_scoped_release without_gil;  // joining the other processes logs
              process_team(settings.args);
            }
            new (self) Job(std::move(model), settings, train, eval, width,
                           {std::move(event), std::move(compute_metrics), std::move(save_beside)});
          },
          nb::arg("model"), nb::arg("settings"), nb::arg("train").none(), nb::arg("eval").none(), nb::arg("width"),
          nb::arg("event").none(), nb::arg("compute_metrics").none(), nb::arg("save_beside").none())
      .def("train", &Job::train, nb::arg("resume").none())
      .def("evaluate", &Job::evaluate, nb::arg("data").none())
      .def("predict", &Job::predict)
      .def("save_model", &Job::save_model)
      .def("state", &Job::state)
      .def("save_state",
           [](const Job& self, const std::string& folder) {
             if (self.trainer().team().is_first()) self.trainer().state().save(folder);
           })
      .def("train_batch_size", [](const Job& self) { return self.trainer().arguments().per_device_train_batch_size; })
      .def("was_interrupted", [](const Job& self) { return self.trainer().was_interrupted(); });
  m.def("metrics_block",
        [](const std::string& split, const nb::dict& metrics) { return metrics_block(split, to_metrics(metrics)); });
  m.def("save_metrics", [](const std::string& folder, const std::string& split, const nb::dict& metrics) {
    save_metrics(folder, split, to_metrics(metrics));
  });
  // Known from the environment: asking joins no process group.
  m.def("process_index", [] { return comm::world_from_environment().rank; });
  m.def("local_process_index", [] { return comm::world_from_environment().local_rank; });
  m.def("num_processes", [] { return comm::world_from_environment().size; });
}

}  // namespace hearth::python
