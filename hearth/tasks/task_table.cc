#include <algorithm>
#include <array>

#include "hearth/base/check.h"
#include "hearth/tasks/embedding/run_embedding.h"
#include "hearth/tasks/masked_lm/masked_lm.h"
#include "hearth/tasks/question_answering/question_answering.h"
#include "hearth/tasks/task.h"
#include "hearth/tasks/text_classification/run_classification.h"
#include "hearth/tasks/text_classification/run_glue.h"
#include "hearth/tasks/token_classification/token_classification.h"

namespace hearth::tasks {
namespace {

template <class T>
std::unique_ptr<Task> make() {
  return std::make_unique<T>();
}

constexpr std::array kCommands{
    TaskCommand{"run_qa", "fine-tune a model for question answering, evaluate it, predict answers",
                "Fine-tunes a model for extractive question answering, evaluates it and predicts answers.",
                "--train_file train.json --validation_file dev.json", make<QuestionAnswering>},
    TaskCommand{"run_ner", "fine-tune a model to tag words: named entities, parts of speech",
                "Fine-tunes a model for token classification, evaluates it and predicts tags.",
                "--train_file train.conll --validation_file dev.conll", make<TokenClassification>},
    TaskCommand{
        "run_glue", "fine-tune a model for a task of GLUE, or classify texts and pairs of your own",
        "Fine-tunes a model for a task of GLUE, or for texts and pairs of your own with one label or a number each, "
        "evaluates it and predicts.",
        "--task_name mrpc --train_file train.tsv --validation_file dev.tsv", make<RunGlue>},
    TaskCommand{"run_classification", "fine-tune a model for text classification or regression with any columns",
                "Fine-tunes a model for text classification, with one or several labels per text or pair, or for "
                "regression, evaluates it and predicts.",
                "--train_file train.csv --validation_file dev.csv", make<RunClassification>},
    TaskCommand{"run_mlm", "pretrain a model by masked language modelling, from nothing or from a model",
                "Pretrains a model by masked language modelling on texts, from nothing or from a model, and evaluates "
                "it.",
                "--train_file texts.txt", make<MaskedLm>},
    TaskCommand{
        "run_embedding", "fine-tune a model to embed texts for search and similarity",
        "Fine-tunes a model so that related texts have similar embeddings, from pairs, triplets or scored pairs, "
        "as sentence-transformers does, and evaluates it.",
        "--train_file pairs.jsonl --validation_file dev.jsonl", make<RunEmbedding>},
};

}  // namespace

std::span<const TaskCommand> task_commands() { return kCommands; }

const TaskCommand& task_command(std::string_view name) {
  const auto found = std::ranges::find(kCommands, name, &TaskCommand::name);
  check(found != kCommands.end(), "[task_command] there is no task {}", name);
  return *found;
}

}  // namespace hearth::tasks
