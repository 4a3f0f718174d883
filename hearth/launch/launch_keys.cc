#include "hearth/launch/launch_keys.h"

#include <array>

namespace hearth::launch {

std::vector<LaunchKey> launch_keys(LaunchConfig& config) {
  return {
      {"", "debug", &config.debug, "for Python scripts: whether collective operations are checked while running"},
      {"", "distributed_type", &config.distributed_type, "NO: one process; MULTI_CPU: several"},
      {"", "enable_cpu_affinity", &config.enable_cpu_affinity, "no effect: ranks are always bound to their cores"},
      {"", "machine_rank", &config.machine_rank, "this machine's number among num_machines"},
      {"", "main_process_ip", &config.main_process_ip, "the address of the machine of rank 0"},
      {"", "main_process_port", &config.main_process_port, "the port that rank 0 listens on"},
      {"", "main_training_function", &config.main_training_function, "no effect: the function that TPUs start"},
      {"", "mixed_precision", &config.mixed_precision,
       "what is trained in where no flag says it: no (fp32), fp16, bf16"},
      {"", "num_machines", &config.num_machines, "how many machines train together"},
      {"", "num_processes", &config.num_processes, "how many processes train together, on all machines"},
      {"", "rdzv_backend", &config.rdzv_backend, "no effect: the address and port above are where processes meet"},
      {"", "same_network", &config.same_network, "no effect: the address above is used on any network"},
      {"", "use_cpu", &config.use_cpu, "whether Python scripts train on the CPU; Hearth itself always does"},
      {"ipex_config", "ipex", &config.ipex, "no effect: what it stands for is always on"},
      {"mpirun_config", "mpirun_ccl", &config.mpirun_ccl, "how many threads of a process communicate"},
      {"mpirun_config", "mpirun_hostfile", &config.mpirun_hostfile, "mpirun starts the processes, on these hosts"},
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
