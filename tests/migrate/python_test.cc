#include <gtest/gtest.h>

#include "hearth/migrate/migration.h"
#include "tests/support.h"

namespace hearth::migrate {
namespace {

std::vector<std::string> remarks_of(const Migration& migration) {
  std::vector<std::string> lines;
  for (const Remark& remark : migration.remarks) lines.push_back(std::to_string(remark.line) + ": " + remark.text);
  return lines;
}

using Lines = std::vector<std::string>;

TEST(MigratePython, TheGuidesTrainingArguments) {
  const Migration migration = migrate_python(
      "training_args = TrainingArguments(\n    output_dir=args.output_path,\n+   bf16=True,\n+   use_ipex=True,\n"
      "+   use_cpu=True,\n    **kwargs\n)\n",
      "script.py");
  EXPECT_EQ(migration.text, "--output_dir \"$OUTPUT_DIR\" \\\n  --bf16");
  EXPECT_FALSE(migration.complete);
  EXPECT_EQ(
      remarks_of(migration),
      (Lines{"1: these are flags of run_qa, run_ner, run_glue and run_classification: no model class tells which",
             "2: output_dir=args.output_path: set OUTPUT_DIR to its value",
             "4: left out: --use_ipex is accepted and has no effect: Hearth's own optimized kernels are always used",
             "5: left out: --use_cpu is accepted and has no effect: Hearth trains on the CPU only",
             "6: **kwargs: add a flag --name value for each of its items"}));
}

TEST(MigratePython, AWholeScript) {
  const Migration migration = migrate_python(R"(
"""A script that has TrainingArguments(seed=1) in its text."""
from transformers import AutoModelForQuestionAnswering, Trainer, TrainingArguments
data = load_dataset("squad")  # not load_dataset("other")
tokenizer = AutoTokenizer.from_pretrained("google-bert/bert-base-uncased")
model = AutoModelForQuestionAnswering.from_pretrained("google-bert/bert-base-uncased")
def prepare(rows):
    return tokenizer(rows["question"], rows["context"], truncation="only_second", max_length=384, stride=128)
args = TrainingArguments(
    "out dir", evaluation_strategy="epoch", learning_rate=3e-5, bf16=True, report_to=["wandb"], seed=None,
    load_best_model_at_end=False, num_train_epochs=epochs(2),
)
trainer = Trainer(model=model, args=args, train_dataset=data["train"], compute_metrics=f1)
trainer.train()
print(trainer.evaluate())
)",
                                             "qa.py");
  EXPECT_EQ(
      migration.text,
      "hearth run_qa \\\n  --dataset_name squad \\\n  --model_name_or_path google-bert/bert-base-uncased \\\n"
      "  --max_seq_length 384 \\\n  --doc_stride 128 \\\n  --output_dir 'out dir' \\\n  --eval_strategy epoch \\\n"
      "  --learning_rate 3e-5 \\\n  --bf16 \\\n  --report_to wandb \\\n  --load_best_model_at_end False \\\n"
      "  --num_train_epochs \"$NUM_TRAIN_EPOCHS\" \\\n  --do_train \\\n  --do_eval");
  EXPECT_TRUE(migration.complete);
  EXPECT_EQ(remarks_of(migration),
            (Lines{"10: --evaluation_strategy is now --eval_strategy",
                   "11: num_train_epochs=epochs(2): set NUM_TRAIN_EPOCHS to its value",
                   "13: compute_metrics=f1: the command has its own; hearth::Trainer in C++ takes another "
                   "(docs/library.md)"}));
}

TEST(MigratePython, GlueAndFiles) {
  const std::string model = "AutoModelForSequenceClassification.from_pretrained(name)\nTrainer(model)\n";
  EXPECT_EQ(migrate_python("load_dataset('glue', \"mrpc\")\n" + model, "a.py").text,
            "hearth run_glue \\\n  --task_name mrpc \\\n  --model_name_or_path \"$MODEL_NAME_OR_PATH\"");
  EXPECT_EQ(
      migrate_python("load_dataset('csv', data_files=files)\n" + model, "a.py").text,
      "hearth run_classification \\\n  --train_file \"$TRAIN_FILE\" \\\n  --validation_file \"$VALIDATION_FILE\" \\\n"
      "  --model_name_or_path \"$MODEL_NAME_OR_PATH\"");
}

TEST(MigratePython, ArgumentsOfOtherKinds) {
  EXPECT_EQ(migrate_python("TrainingArguments(help=1, max_steps=-1, save_steps=1_000, optim=\"a\" \"b\")", "a.py").text,
            "--max_steps -1 \\\n  --save_steps 1000 \\\n  --optim \"$OPTIM\"");
}

TEST(MigratePython, LoopsOfOnesOwn) {
  const Migration accelerated = migrate_python("accelerator = Accelerator(mixed_precision='bf16')\n", "my loop.py");
  EXPECT_EQ(accelerated.text, "hearth launch --mixed_precision bf16 'my loop.py'");
  EXPECT_TRUE(accelerated.complete);
  EXPECT_EQ(remarks_of(accelerated),
            (Lines{"1: the script stays Python, with PyTorch; hearth::Accelerator has the same methods in C++ "
                   "(docs/library.md, examples/nlp_example.cc)"}));
  const Migration plain = migrate_python(
      "import intel_extension_for_pytorch as ipex\nimport oneccl_bindings_for_pytorch\n"
      "dist.init_process_group('ccl')\nmodel, optimizer = ipex.optimize(model, optimizer=optimizer, "
      "dtype=torch.bfloat16)\n",
      "loop.py");
  EXPECT_EQ(plain.text, "");
  EXPECT_FALSE(plain.complete);
  EXPECT_EQ(remarks_of(plain),
            (Lines{"1: left out: IPEX: Hearth's own optimized kernels are always used",
                   "1: no command has a training loop of one's own; docs/library.md shows such a loop in C++",
                   "2: left out: oneCCL's bindings for PyTorch: --ddp_backend ccl uses oneCCL itself",
                   "3: init_process_group: ranks join without it; --ddp_backend ccl chooses the backend",
                   "4: left out: ipex.optimize: Hearth's own optimized kernels are always used, in bf16 with --bf16"}));
}

TEST(MigratePython, FlagsOfTheScriptsCommandLine) {
  const Migration migration = migrate_python(
      "parser = "
      "HfArgumentParser(TrainingArguments)\nBertForTokenClassification.from_pretrained('m')\ntrainer.train()\n",
      "a.py");
  EXPECT_EQ(migration.text, "hearth run_ner \\\n  --model_name_or_path m");
  EXPECT_EQ(remarks_of(migration), (Lines{"1: the flags of the script's command line: `hearth migrate 'python3 SCRIPT "
                                          "FLAGS'` translates them"}));
}

TEST(MigratePython, ScriptsWithoutAnythingAreErrors) {
  for (const char* text : {"", "print('Trainer(')", "def Trainer(x): pass", "# Accelerator()"})
    EXPECT_EQ(error_of([&] { migrate_python(text, "a.py"); }),
              "a.py has nothing that Hearth replaces: no TrainingArguments, Trainer, Accelerator or IPEX")
        << text;
}

}  // namespace
}  // namespace hearth::migrate
