#include "hearth/launch/config/launch_keys.h"

#include <array>

namespace hearth::launch {

std::vector<LaunchKey> launch_keys(LaunchConfig& config) {
  return {
      {"", "debug", &config.debug, "for Python scripts: check collective operations while running"},
      {"", "distributed_type", &config.distributed_type, "NO: one process; MULTI_CPU: several"},
      {"", "enable_cpu_affinity", &config.enable_cpu_affinity, "no effect: ranks are always bound to their cores"},
      {"", "machine_rank", &config.machine_rank, "rank of this machine, from 0"},
      {"", "main_process_ip", &config.main_process_ip, "address of the machine of rank 0"},
      {"", "main_process_port", &config.main_process_port, "port that rank 0 listens on"},
      {"", "main_training_function", &config.main_training_function, "no effect: used on TPUs only"},
      {"", "mixed_precision", &config.mixed_precision,
       "the dtype to train in without --fp16 or --bf16: no (fp32), fp16, bf16"},
      {"", "num_machines", &config.num_machines, "number of machines"},
      {"", "num_processes", &config.num_processes, "number of processes on all machines together"},
      {"", "rdzv_backend", &config.rdzv_backend, "no effect: processes meet at main_process_ip and main_process_port"},
      {"", "same_network", &config.same_network, "no effect: main_process_ip is used on any network"},
      {"", "use_cpu", &config.use_cpu, "whether Python scripts train on the CPU; Hearth itself always does"},
      {"ipex_config", "ipex", &config.ipex, "no effect: its optimizations are always on"},
      {"mpirun_config", "mpirun_ccl", &config.mpirun_ccl, "oneCCL worker threads per process"},
      {"mpirun_config", "mpirun_hostfile", &config.mpirun_hostfile,
       "hostfile; mpirun then starts the processes on its hosts"},
      {"dynamo_config", "dynamo_backend", &config.dynamo_backend, "for Python scripts: torch.compile's backend"},
      {"dynamo_config", "dynamo_mode", &config.dynamo_mode, "for Python scripts: torch.compile's mode"},
      {"dynamo_config", "dynamo_use_dynamic", &config.dynamo_use_dynamic, "for Python scripts: dynamic shapes"},
      {"dynamo_config", "dynamo_use_fullgraph", &config.dynamo_use_fullgraph, "for Python scripts: one whole graph"},
      {"dynamo_config", "dynamo_use_regional_compilation", &config.dynamo_use_regional_compilation,
       "for Python scripts: repeated blocks are compiled once"},
  };
}

std::span<const ForeignKey> foreign_keys() {
  static constexpr std::array all{
      ForeignKey{"gpu_ids", "GPUs"},
      ForeignKey{"deepspeed_config", "DeepSpeed"},
      ForeignKey{"fsdp_config", "FSDP"},
      ForeignKey{"megatron_lm_config", "Megatron-LM"},
      ForeignKey{"tp_config", "tensor parallelism"},
      ForeignKey{"parallelism_config", "device meshes"},
      ForeignKey{"fp8_config", "8-bit floats"},
      ForeignKey{"downcast_bf16", "TPUs"},
      ForeignKey{"tpu_env", "TPUs"},
      ForeignKey{"tpu_name", "TPUs"},
      ForeignKey{"tpu_use_cluster", "TPUs"},
      ForeignKey{"tpu_use_sudo", "TPUs"},
      ForeignKey{"tpu_vm", "TPUs"},
      ForeignKey{"tpu_zone", "TPUs"},
      ForeignKey{"command_file", "TPU pods"},
      ForeignKey{"commands", "TPU pods"},
      ForeignKey{"additional_args", "Amazon SageMaker"},
      ForeignKey{"base_job_name", "Amazon SageMaker"},
      ForeignKey{"ec2_instance_type", "Amazon SageMaker"},
      ForeignKey{"iam_role_name", "Amazon SageMaker"},
      ForeignKey{"image_uri", "Amazon SageMaker"},
      ForeignKey{"profile", "Amazon SageMaker"},
      ForeignKey{"py_version", "Amazon SageMaker"},
      ForeignKey{"pytorch_version", "Amazon SageMaker"},
      ForeignKey{"region", "Amazon SageMaker"},
      ForeignKey{"sagemaker_inputs_file", "Amazon SageMaker"},
      ForeignKey{"sagemaker_metrics_file", "Amazon SageMaker"},
      ForeignKey{"transformers_version", "Amazon SageMaker"},
  };
  return all;
}

}  // namespace hearth::launch
