// `hearth migrate` as a user runs it.
#include "tests/apps/program.h"

namespace hearth {
namespace {

class MigrateCommand : public ProgramTest {};

TEST_F(MigrateCommand, PrintsAShellScript) {
  const Outcome outcome = hearth("migrate 'mpirun -n 2 python3 run_qa.py --evaluation_strategy epoch --no_cuda'");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out,
            "mpirun -n 2 hearth run_qa --eval_strategy epoch\n"
            "# --evaluation_strategy is now --eval_strategy\n"
            "# left out: --no_cuda is accepted and has no effect: Hearth trains on the CPU only\n");
}

TEST_F(MigrateCommand, StatusTellsWhatIsMissing) {
  EXPECT_EQ(hearth("migrate 'python run_qa.py --no_such_flag 1'").status, 1);
  EXPECT_EQ(hearth("migrate 'ls -l'").status, 2);
  EXPECT_EQ(hearth("migrate").status, 2);
  EXPECT_EQ(hearth("migrate nowhere.sh").error(), "there is no script nowhere.sh");
  EXPECT_EQ(hearth("migrate run_qa.py").out, "hearth run_qa\n");
  EXPECT_EQ(hearth("migrate python run_qa.py").error(),
            "'run_qa.py' is one word too many: put the whole command in quotes");
}

TEST_F(MigrateCommand, ReadsFilesAndStandardInput) {
  write("train.sh", "#!/bin/sh\npip install x\npython run_qa.py\n");
  write("train.py", "TrainingArguments('out')\nBertForQuestionAnswering.from_pretrained('m')\n");
  EXPECT_EQ(
      hearth("migrate train.sh").out,
      "#!/bin/sh\nhearth run_qa\n# line 2: left out: pip install: Hearth needs no Python package and no environment\n");
  EXPECT_EQ(hearth("migrate train.py").out, "hearth run_qa \\\n  --output_dir out \\\n  --model_name_or_path m\n");
  EXPECT_EQ(hearth("migrate -", "cat train.sh |").out, hearth("migrate train.sh").out);
}

TEST_F(MigrateCommand, PrintsJson) {
  const io::Json json = io::parse_json(hearth("migrate --json 'python run_qa.py --use_ipex'").out, "output");
  EXPECT_EQ(json.at("text"), "hearth run_qa");
  EXPECT_EQ(json.at("complete"), true);
  EXPECT_EQ(json.at("remarks").at(0).at("line"), 1);
}

}  // namespace
}  // namespace hearth
