#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hearth/base/arguments.h"
#include "hearth/data/dataset.h"
#include "hearth/metrics/metrics.h"
#include "hearth/metrics/sample_prediction.h"
#include "hearth/models/head.h"
#include "hearth/parallel/team.h"
#include "hearth/tasks/common/dataset_request.h"
#include "hearth/tasks/common/model_arguments.h"
#include "hearth/tasks/common/token_rows.h"
#include "hearth/tokenizer/tokenizer.h"
#include "hearth/train/trainer.h"
#include "hearth/train/training_arguments.h"

namespace hearth::tasks {

// What the runner knows when a task loads its data. The model is built afterwards: the data decides its labels.
struct TaskSetting {
  const TrainingArguments& training;
  std::shared_ptr<const tokenizer::Tokenizer> tokenizer;
  std::filesystem::path tokenizer_folder;  // where it was loaded from: the key of the feature cache hashes its files
  const models::Config& config;            // of the model that training starts from
  std::int64_t max_tokens = 0;             // of the longest sequence that the model reads
  std::int64_t vocab_size = 0;             // of the model: the largest token id + 1
  parallel::Team team;
  std::filesystem::path model_folder = {};  // of the weights that training starts from
};

// An Error where a token id of the rows is beyond the model's vocabulary: the tokenizer is another model's.
void check_vocabulary(const TokenRows& rows, const TaskSetting& setting, const std::string& file);

// What the model card says of the task.
struct TaskCard {
  std::string name, type;                                    // the Hub's: "Question Answering", "question-answering"
  std::string purpose;                                       // "extractive question answering"
  std::string train_file, validation_file;                   // may be empty
  std::string dataset;                                       // on the Hub, in place of files; may be empty
  std::vector<std::pair<std::string, std::string>> metrics;  // the Hub's name of a metric, and its key here
};

// What a training command needs to know about its task; the runner (apps/run_task.h) does everything else. The
// functions are called in this order. In a team every process calls them; the first one writes files and gets the
// metrics.
class Task {
 public:
  virtual ~Task() = default;

  virtual ModelStart start() const { return ModelStart::pretrained; }
  virtual void declare(Arguments& options) = 0;                  // its own flags
  virtual void validate(const TrainingArguments& training) = 0;  // after parsing; throws Error
  virtual DataArguments& data() = 0;                             // the flags that name its files or data set
  // The data set that --dataset_name asks for. The runner fetches it and hands over its files before check_inputs().
  virtual std::optional<DatasetRequest> dataset(const TrainingArguments& training);
  virtual void take_files(const hub::DatasetFiles& files, const TrainingArguments& training);
  // That the run's files can be opened: a wrong path is the first thing that a user is told of. Throws Error.
  virtual void check_inputs(const TrainingArguments& training);
  virtual bool takes_words() const { return false; }  // its texts are lists of words, which the tokenizer must know
  virtual void load(const TaskSetting& setting) = 0;  // reads files, makes features and label maps
  virtual models::HeadSpec head() const = 0;          // known once the data is
  virtual ops::LossOptions loss() const { return {}; }
  virtual DatasetPtr train_data() const = 0;  // null without --do_train

  // The metrics' names of evaluation set i end in suffix i. Only MNLI has two sets. Training evaluates on the first.
  virtual std::vector<std::string> evaluation_suffixes() const { return {""}; }
  virtual std::int64_t evaluation_size(std::size_t set) const = 0;
  virtual Metrics evaluate(Trainer& trainer, std::size_t set) = 0;  // names begin with eval_; writes files, if any
  // Beside the metrics of the last evaluation, in the first process; not of those in mid-training.
  virtual Metrics derived_metrics(const Metrics& /*evaluated*/) const { return {}; }
  virtual Metrics predict(Trainer& trainer) = 0;  // writes the predictions; may return no metrics

  // Predictions of the last evaluation of the first set, wrong and right, for people to read; in the first process.
  virtual std::vector<SamplePrediction> samples() const { return {}; }

  // After the final evaluation, in the first process: text for the terminal beside the metrics. May write files.
  virtual std::string report(const std::filesystem::path& /*output_dir*/) const { return ""; }

  // Files of the task's own, written beside the model and its tokenizer.
  virtual void save_beside(const std::filesystem::path& /*folder*/) const {}

  virtual TaskCard card() const = 0;
  virtual std::string try_it(const std::string& model) const = 0;  // a command that uses the trained model
};

// A training command. Adding one means a folder below tasks/ and a line of task_table.cc.
struct TaskCommand {
  std::string_view name;         // "run_qa"
  std::string_view summary;      // for the list of commands
  std::string_view description;  // for its help
  std::string_view example;      // flags of an example: files that this task reads
  std::unique_ptr<Task> (*make)();
};
std::span<const TaskCommand> task_commands();
const TaskCommand& task_command(std::string_view name);

}  // namespace hearth::tasks
