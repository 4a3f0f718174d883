#include <gtest/gtest.h>

#include "hearth/migrate/migration.h"
#include "tests/support.h"

namespace hearth::migrate {
namespace {

struct Case {
  std::string old_text, new_text;
  std::vector<std::string> remarks = {};
  bool complete = true;
};

const std::string kKernels = " is accepted and has no effect: Hearth's own optimized kernels are always used";
const std::string kCpu = " is accepted and has no effect: Hearth trains on the CPU only";
const std::string kNoPackages = ": Hearth needs no Python package and no environment";
const std::string kStays = " stays a Python script, with PyTorch; `hearth migrate ";

void check_cases(const std::vector<Case>& cases) {
  for (const Case& one : cases) {
    SCOPED_TRACE(one.old_text);
    const Migration migration = migrate_shell(one.old_text);
    EXPECT_EQ(migration.text, one.new_text);
    EXPECT_EQ(migration.complete, one.complete);
    std::vector<std::string> remarks;
    for (const Remark& remark : migration.remarks) remarks.push_back(remark.text);
    EXPECT_EQ(remarks, one.remarks);
  }
}

TEST(MigrateShell, PythonScripts) {
  check_cases({
      {"python3 run_qa.py --bf16", "hearth run_qa --bf16"},
      {"python examples/pytorch/question-answering/run_qa.py --do_train", "hearth run_qa --do_train"},
      {"/usr/bin/python3.11 -u -X faulthandler ./run_glue.py --task_name mrpc", "hearth run_glue --task_name mrpc"},
      {"./run_ner.py --seed 1", "hearth run_ner --seed 1"},
      {"$(which python3) run_ner.py; ${PYTHON:-python} -u run_qa.py", "hearth run_ner; hearth run_qa"},
      {"python -m run_classification --seed 1", "hearth run_classification --seed 1"},
      {"python run_qa.py options.json --seed 1", "hearth run_qa options.json --seed 1"},
      {"python run_qa.py --help", "hearth run_qa --help"},
      {"$ python run_qa.py --bf16", "hearth run_qa --bf16"},
      {"hearth run_qa --bf16", "hearth run_qa --bf16"},
      {"python train.py --lr 1",
       "python train.py --lr 1",
       {"Hearth has no command for train.py, which stays as it is; `hearth migrate train.py` tells what its lines "
        "become"},
       false},
  });
}

TEST(MigrateShell, FlagsWithoutEffectRenamedRefusedUnknownOrWrong) {
  check_cases({
      {"python run_qa.py --use_ipex --bf16 --no_cuda",
       "hearth run_qa --bf16",
       {"left out: --use_ipex" + kKernels, "left out: --no_cuda" + kCpu}},
      {"python run_qa.py --use-cpu --jit_mode_eval True --seed 3",
       "hearth run_qa --seed 3",
       {"left out: --use_cpu" + kCpu, "left out: --jit_mode_eval" + kKernels}},
      {"python run_qa.py --evaluation_strategy=epoch --xpu_backend ccl",
       "hearth run_qa --eval_strategy=epoch --ddp_backend ccl",
       {"--evaluation_strategy is now --eval_strategy", "--xpu_backend is now --ddp_backend"}},
      {"python run_qa.py --deepspeed ds.json --seed 3",
       "hearth run_qa --seed 3",
       {"left out: --deepspeed configures a library that Hearth does not use; leave it out (--sharded_optimizer saves "
        "memory)"},
       false},
      {"python run_qa.py --lerning_rate 3e-5 --seed 3",
       "hearth run_qa --seed 3",
       {"left out: there is no option --lerning_rate; did you mean --learning_rate?"},
       false},
      {"python run_qa.py --ddp_backend nccl",
       "hearth run_qa",
       {"left out: --ddp_backend: 'nccl' is none of gloo, shm, mpi, ccl"},
       false},
      {"python run_qa.py --max_train 100 --no_logging_nan_inf_filter --freeze 'bert.*' b --learning_rate -1e-5",
       "hearth run_qa --max_train 100 --no_logging_nan_inf_filter --freeze 'bert.*' b",
       {"left out: --learning_rate must be at least 0, not -1e-05"},
       false},
  });
}

TEST(MigrateShell, VariablesInValuesAreLeftToTheShell) {
  check_cases({
      {"python run_qa.py --learning_rate $LR --output_dir \"$HOME/out dir\" --seed ${SEED:-1} --max_steps $(cat steps)",
       "hearth run_qa --learning_rate $LR --output_dir \"$HOME/out dir\" --seed ${SEED:-1} --max_steps $(cat steps)"},
      {"python run_qa.py --use_ipex \"$@\" && python run_qa.py --no_cuda \"${FLAGS[@]}\"",
       "hearth run_qa \"$@\" && hearth run_qa \"${FLAGS[@]}\"",
       {"left out: --use_ipex" + kKernels, "left out: --no_cuda" + kCpu}},
      {"python run_qa.py --use_ipex $X --seed 1",
       "hearth run_qa --seed 1",
       {"left out: --use_ipex: '$X' is neither true nor false"},
       false},
  });
}

TEST(MigrateShell, QuotesContinuationsCommentsAndOperators) {
  check_cases({
      {"python run_qa.py \\\n  --output_dir 'a b' \\\n  --use_ipex \\\n  --bf16 --no_cuda\n",
       "hearth run_qa \\\n  --output_dir 'a b' \\\n  --bf16",
       {"left out: --use_ipex" + kKernels, "left out: --no_cuda" + kCpu}},
      {"python run_qa.py \\\r\n --use_ipex \\\r\n --bf16",
       "hearth run_qa \\\r\n --bf16",
       {"left out: --use_ipex" + kKernels}},
      {"python 'run_qa.py' \"--output_dir=it's\" --ou\"tput_dir\"=x\\ y",
       "hearth run_qa \"--output_dir=it's\" --ou\"tput_dir\"=x\\ y"},
      {"# with \"quotes\nexport A=1 # unlike 'this\ncd x && python run_qa.py --bf16 > log 2>&1 & wait; echo done",
       "# with \"quotes\nexport A=1 # unlike 'this\ncd x && hearth run_qa --bf16 > log 2>&1 & wait; echo done"},
      {"python run_qa.py --bf16 2>err --use_ipex | tee log",
       "hearth run_qa --bf16 2>err | tee log",
       {"left out: --use_ipex" + kKernels}},
      {"cat > hostfile <<EOF\npip install a 'quote\nEOF\npython run_qa.py",
       "cat > hostfile <<EOF\npip install a 'quote\nEOF\nhearth run_qa"},
      {"for seed in 1 2; do\n  python run_qa.py --seed $seed\ndone",
       "for seed in 1 2; do\n  hearth run_qa --seed $seed\ndone"},
      {"if true; then pip install x; fi\npython run_qa.py",
       "if true; then :; fi\nhearth run_qa",
       {"left out: pip install" + kNoPackages}},
      {"python run_qa.py --train_file <(zcat t.json.gz)", "hearth run_qa --train_file <(zcat t.json.gz)"},
      {"(cd x; python run_qa.py)", "(cd x; hearth run_qa)"},
  });
}

TEST(MigrateShell, WhatIsNoLongerNeeded) {
  check_cases({
      {"pip install intel_extension_for_pytorch==2.5.0 -f https://developer.intel.com/ipex-whl-stable-cpu",
       "",
       {"left out: pip install" + kNoPackages}},
      {"python -m pip install x; python run_qa.py", "hearth run_qa", {"left out: pip" + kNoPackages}},
      {"pip list | grep torch", "", {"left out: pip list" + kNoPackages}},
      {"conda install x && conda activate y && python run_qa.py",
       "hearth run_qa",
       {"left out: conda install" + kNoPackages, "left out: conda activate" + kNoPackages}},
      {"pip install x || exit 1\npython run_qa.py && pip list",
       ": || exit 1\nhearth run_qa && :",
       {"left out: pip install" + kNoPackages, "left out: pip list" + kNoPackages}},
      {"source venv/bin/activate\npython run_qa.py", "hearth run_qa", {"left out: Hearth needs no Python environment"}},
      {"conda run -n ipex python train.py",
       "conda run -n ipex python train.py",
       {"Hearth has no command for train.py, which stays as it is; `hearth migrate train.py` tells what its lines "
        "become"},
       false},
      {"git clone https://github.com/huggingface/accelerate && cd accelerate; cat run_qa.py; cd ../hearth\npython "
       "run_qa.py",
       "git clone https://github.com/huggingface/accelerate && cd accelerate; cat run_qa.py; cd ../hearth\nhearth "
       "run_qa"},
      {"conda run -n ipex python run_qa.py",
       "hearth run_qa",
       {"left out: conda run: Hearth needs no Python environment"}},
  });
}

TEST(MigrateShell, Variables) {
  check_cases({
      {"export CCL_WORKER_COUNT=1", "export CCL_WORKER_COUNT=1"},
      {"CUDA_VISIBLE_DEVICES=0 nvidia-smi; CUDA_VISIBLE_DEVICES=0 python run_qa.py",
       "CUDA_VISIBLE_DEVICES=0 nvidia-smi; hearth run_qa",
       {"left out: CUDA_VISIBLE_DEVICES has no effect: Hearth trains on the CPU only"}},
      {"NCCL_DEBUG=1", "", {"left out: NCCL_DEBUG has no effect: Hearth trains on the CPU only"}},
      {"OMP_NUM_THREADS=23 I_MPI_PIN=0 python run_qa.py", "OMP_NUM_THREADS=23 I_MPI_PIN=0 hearth run_qa"},
      {"CUDA_VISIBLE_DEVICES= OMP_NUM_THREADS=2 KMP_SETTINGS=1 python run_qa.py",
       "OMP_NUM_THREADS=2 hearth run_qa",
       {"left out: CUDA_VISIBLE_DEVICES has no effect: Hearth trains on the CPU only",
        "left out: KMP_SETTINGS has no effect: it belongs to Intel's OpenMP"}},
      {"export TOKENIZERS_PARALLELISM=false MASTER_ADDR=127.0.0.1 WANDB_DISABLED=1\npython run_qa.py",
       "export MASTER_ADDR=127.0.0.1\nhearth run_qa",
       {"left out: TOKENIZERS_PARALLELISM has no effect: all threads tokenize",
        "left out: WANDB_DISABLED has no effect: wandb is not implemented; --report_to html, jsonl and tensorboard "
        "are"}},
      {"export LD_PRELOAD=/opt/lib/libiomp5.so\npython run_qa.py",
       "hearth run_qa",
       {"left out: LD_PRELOAD has no effect: Hearth has compute threads of its own, and `hearth launch "
        "--memory_allocator` "
        "preloads another malloc"}},
  });
}

TEST(MigrateShell, Mpirun) {
  check_cases({
      {"mpirun -f hostfile -n 4 -ppn 2 -genv OMP_NUM_THREADS=23 python3 run_qa.py --ddp_backend ccl --use_ipex --bf16",
       "mpirun -f hostfile -n 4 -ppn 2 -genv OMP_NUM_THREADS=23 hearth run_qa --ddp_backend ccl --bf16",
       {"left out: --use_ipex" + kKernels}},
      {"mpiexec.hydra -np 2 numactl -m 0 ./run_qa.py", "mpiexec.hydra -np 2 numactl -m 0 hearth run_qa"},
      {"mpirun -n 1 python a.py : -n 1 python run_qa.py",
       "mpirun -n 1 python a.py : -n 1 python run_qa.py",
       {"several programs with : between them stay as they are: translate each alone"},
       false},
      {"deepspeed --num_gpus=2 run_qa.py --bf16",
       "deepspeed --num_gpus=2 hearth run_qa --bf16",
       {"deepspeed stays as it is, but Hearth does not know this launcher: it joins jobs of mpirun, srun and `hearth "
        "launch`"},
       false},
      {"horovodrun -np 2 python run_qa.py",
       "horovodrun -np 2 hearth run_qa",
       {"horovodrun stays as it is, but Hearth does not know this launcher: it joins jobs of mpirun, srun and `hearth "
        "launch`"},
       false},
      {"oneccl_bindings_for_pytorch_path=$(python -c \"from oneccl_bindings_for_pytorch import cwd; print(cwd)\")\n"
       "source $oneccl_bindings_for_pytorch_path/env/setvars.sh\nmpirun -n 2 accelerate launch examples/nlp_example.py",
       "eval \"$(hearth env --setvars)\"\nmpirun -n 2 hearth launch nlp_example",
       {"left out: the path of oneCCL's bindings for PyTorch, which Hearth does not use",
        "only Intel's mpirun needs these paths: the ccl plug-in finds oneCCL without them"}},
  });
}

TEST(MigrateShell, Launchers) {
  check_cases({
      {"torchrun --nproc_per_node 2 run_qa.py --bf16", "hearth launch --num_processes 2 run_qa --bf16"},
      {"python -m torch.distributed.run --nnodes=2 --nproc-per-node=4 --node_rank=$R --rdzv_endpoint=h:29400 run_qa.py",
       "hearth launch --machine_rank $R --main_process_ip h --main_process_port 29400 --num_machines 2 --num_processes "
       "8 "
       "run_qa"},
      {"torchrun --nnodes $M --nproc_per_node 2 -m run_qa",
       "hearth launch --num_machines $M --num_processes $(($M * 2)) run_qa"},
      {"torchrun --standalone --nproc_per_node=gpu --event_log_handler x run_qa.py",
       "hearth launch run_qa",
       {"left out: torchrun's --standalone has no effect: processes meet at --main_process_ip and --main_process_port",
        "left out: `hearth launch` has no counterpart of torchrun's --event_log_handler",
        "left out: --nproc_per_node gpu: one rank per NUMA node is the default"},
       false},
      {"torchrun --nproc_per_node 2 train.py --lr 1",
       "hearth launch --num_processes 2 train.py --lr 1",
       {"train.py" + kStays + "train.py` tells what its lines become"}},
      {"ipexrun --nnodes 2 --nprocs-per-node 2 --hostfile hosts --ccl-worker-count 4 run_qa.py",
       "hearth launch --mpirun_hostfile hosts --ccl_worker_count 4 --num_machines 2 --num_processes 4 run_qa"},
      {"python -m intel_extension_for_pytorch.cpu.launch --ncore_per_instance 4 --enable_tcmalloc --disable_numactl "
       "run_qa.py",
       "hearth launch --ncores_per_instance 4 --memory_allocator tcmalloc run_qa",
       {"left out: ipexrun's --disable_numactl has no effect: ranks are pinned to cores and NUMA nodes without it"}},
  });
}

TEST(MigrateShell, Accelerate) {
  check_cases({
      {"accelerate config", "hearth config"},
      {"accelerate config default --mixed_precision bf16", "hearth config default --mixed_precision bf16"},
      {"accelerate test && accelerate env", "hearth test && hearth env"},
      {"accelerate launch examples/nlp_example.py", "hearth launch nlp_example"},
      {"accelerate launch --cpu --num-processes=2 --same_network run_qa.py --use_ipex --bf16",
       "hearth launch --cpu --num-processes=2 run_qa --bf16",
       {"left out: --same_network is accepted and has no effect: processes always meet at --main_process_ip and "
        "--main_process_port",
        "left out: --use_ipex" + kKernels}},
      {"accelerate launch -m --num_processes $N my.module --a", "hearth launch -m --num_processes $N my.module --a"},
      {"accelerate launch my_script.py --args_to_my_script",
       "hearth launch my_script.py --args_to_my_script",
       {"my_script.py" + kStays + "my_script.py` tells what its lines become"}},
      {"accelerate launch --multi_gpu run_qa.py",
       "hearth launch run_qa",
       {"left out: --multi_gpu is for accelerators or a cloud service, but Hearth trains on CPUs; leave it out"},
       false},
      {"accelerate tpu-config",
       "accelerate tpu-config",
       {"hearth has no counterpart of `accelerate tpu-config`"},
       false},
      {"python -m accelerate.commands.launch --cpu run_qa.py", "hearth launch --cpu run_qa"},
  });
}

TEST(MigrateShell, ShellsInside) {
  check_cases({
      {"bash -c 'cd x && python3 run_qa.py --no_cuda'",
       "bash -c 'cd x && hearth run_qa'",
       {"left out: --no_cuda" + kCpu}},
      {"mpirun -n 2 bash -lc \"python run_qa.py --output_dir 'a b'\"",
       "mpirun -n 2 bash -lc 'hearth run_qa --output_dir '\\''a b'\\'''"},
      {"bash -c \"python run_qa.py --seed $S\"",
       "bash -c \"python run_qa.py --seed $S\"",
       {"the text after -c has variables in it: translate it alone, in single quotes"},
       false},
      {"bash train.sh", "bash train.sh", {"train.sh stays as it is: `hearth migrate train.sh` translates it"}, false},
  });
}

TEST(MigrateShell, RemarksNameTheirLines) {
  const Migration migration = migrate_shell("\nexport NCCL_DEBUG=INFO\npython run_qa.py \\\n --seed 1 \\\n --use_ipex");
  ASSERT_EQ(migration.remarks.size(), 2u);
  EXPECT_EQ(migration.remarks[0].line, 2u);
  EXPECT_EQ(migration.remarks[1].line, 5u);
}

TEST(MigrateShell, TheResultStaysAsItIs) {
  for (const char* old_text : {"mpirun -n 2 python run_qa.py --use_ipex --evaluation_strategy no",
                               "torchrun --nproc_per_node 2 run_qa.py", "accelerate launch examples/nlp_example.py"}) {
    const std::string once = migrate_shell(old_text).text;
    const Migration twice = migrate_shell(once);
    EXPECT_EQ(twice.text, once);
    EXPECT_TRUE(twice.remarks.empty()) << once;
  }
}

TEST(MigrateShell, TextsWithoutAnyCommandAreErrors) {
  for (const char* text : {"", "ls -l", "# python run_qa.py", "cat run_qa.py", "which python3", "python -c 'print(1)'"})
    EXPECT_EQ(
        error_of([&] { migrate_shell(text); }),
        "there is no command here that Hearth replaces, such as python3 run_qa.py, accelerate launch, torchrun or "
        "ipexrun, alone or behind mpirun")
        << text;
  EXPECT_EQ(error_of([] { migrate_shell("ls\npython 'run_qa.py"); }), "line 2: ' is never closed");
  EXPECT_EQ(error_of([] { migrate_shell("echo $(ls"); }), "line 1: ( is never closed");
}

}  // namespace
}  // namespace hearth::migrate
