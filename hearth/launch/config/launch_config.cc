#include "hearth/launch/config/launch_config.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "hearth/base/check.h"
#include "hearth/base/log.h"
#include "hearth/base/nearest_name.h"
#include "hearth/io/file.h"
#include "hearth/io/user_folders.h"
#include "hearth/io/json.h"
#include "hearth/io/yaml.h"
#include "hearth/launch/config/launch_keys.h"

namespace hearth::launch {
namespace {

constexpr std::string_view kThisMachine = "LOCAL_MACHINE";

bool is_json(const std::filesystem::path& path) { return path.extension() == ".json"; }

bool asks_for_nothing(const io::Json& value) {
  if (value.is_string()) return value == "" || value == "no" || value == "NO";
  return value.is_null() || value == false || (value.is_structured() && value.empty());
}

class Reader {
 public:
  explicit Reader(std::string file) : file_(std::move(file)) {}

  LaunchConfig read(io::Json json) {
    convert_earlier_keys(json);
    check(json.contains("distributed_type"), "{} has no key distributed_type; add it with the value NO or MULTI_CPU",
          file_);
    for (const auto& [key, value] : json.items()) set(key, value);
    check(unknown_.empty(), "{} has unknown keys: {}; correct or remove them", file_, fmt::join(unknown_, ", "));
    if (config_.distributed_type == "no") config_.distributed_type = "NO";
    if (config_.dynamo_backend == "NO") config_.dynamo_backend.reset();
    if (config_.num_processes == -1) config_.num_processes.reset();
    if (!json.contains("num_processes") && config_.distributed_type != "NO") config_.num_processes.reset();
    check_values();
    return config_;
  }

 private:
  static void convert_earlier_keys(io::Json& json) {
    if (json.contains("fp16")) {
      const bool fp16 = json["fp16"] == true;
      json.erase("fp16");
      if (!json.contains("mixed_precision")) json["mixed_precision"] = fp16 ? "fp16" : "no";
    }
    if (json.contains("dynamo_backend")) {
      const io::Json backend = json["dynamo_backend"];
      json.erase("dynamo_backend");
      if (!asks_for_nothing(backend)) json["dynamo_config"] = {{"dynamo_backend", backend}};
    }
  }

  void set(const std::string& key, const io::Json& value) {
    const auto foreign = std::ranges::find(foreign_keys(), key, &ForeignKey::name);
    const bool is_table = std::ranges::find(keys_, key, &LaunchKey::table) != keys_.end();
    if (key == "compute_environment") {
      check(value == kThisMachine, "{}: compute_environment is {}; Hearth supports {} only", file_, io::excerpt(value),
            kThisMachine);
    } else if (key == "gpu_ids" && value == "all") {
      log_warning("{}: gpu_ids has no effect: Hearth trains on CPUs", file_);
    } else if (foreign != foreign_keys().end()) {
      check(asks_for_nothing(value), "{}: {} asks for {}, but Hearth trains on CPUs; remove the key", file_, key,
            foreign->asks_for);
    } else if (is_table && value.is_object()) {
      for (const auto& [name, inner] : value.items()) set(key, name, inner);
    } else if (!is_table || !value.is_null()) {
      set("", key, value);
    }
  }

  void set(const std::string& table, const std::string& name, const io::Json& value) {
    const auto key =
        std::ranges::find_if(keys_, [&](const LaunchKey& known) { return known.table == table && known.name == name; });
    if (key == keys_.end()) {
      const std::string near = nearest(name);
      unknown_.push_back(near.empty() ? name : fmt::format("{} (did you mean {}?)", name, near));
    } else if (!value.is_null()) {
      check(!value.is_structured(), "{}: {} must be one value, found {}", file_, name, io::excerpt(value));
      assign(key->target, {word_of(value)}, fmt::format("{}: {}", file_, name));
    }
  }

  static std::string word_of(const io::Json& value) {
    if (value.is_boolean()) return value == true ? "yes" : "no";  // an unquoted `mixed_precision: no`
    return value.is_string() ? value.get<std::string>() : value.dump();
  }

  std::string nearest(const std::string& name) const {
    std::vector<std::string> known{"compute_environment"};
    for (const LaunchKey& key : keys_) known.emplace_back(key.name);
    for (const ForeignKey& key : foreign_keys()) known.emplace_back(key.name);
    return nearest_name(name, known);
  }

  void check_values() {
    check(config_.distributed_type == "NO" || config_.distributed_type == "MULTI_CPU",
          "{}: distributed_type is {}; Hearth trains on CPUs: use NO or MULTI_CPU", file_,
          io::excerpt(config_.distributed_type));
    check(config_.mixed_precision == "no" || config_.mixed_precision == "fp16" || config_.mixed_precision == "bf16",
          "{}: mixed_precision is {}; on CPUs it is no, fp16 or bf16", file_, io::excerpt(config_.mixed_precision));
    check(config_.num_machines >= 1 && config_.num_machines <= kMostProcesses,
          "{}: num_machines is {}, but must be between 1 and {}", file_, config_.num_machines, kMostProcesses);
    check(config_.machine_rank >= 0 && config_.machine_rank < config_.num_machines,
          "{}: machine_rank is {}, but num_machines is {}: ranks count from 0", file_, config_.machine_rank,
          config_.num_machines);
    check(config_.num_processes.value_or(1) >= 1, "{}: num_processes is {}, but must be at least 1", file_,
          config_.num_processes.value_or(1));
    const std::int64_t port = config_.main_process_port.value_or(0);
    check(port >= 0 && port <= 65535, "{}: main_process_port is {}, but must be between 0 and 65535", file_, port);
    check(config_.mpirun_ccl >= 0 && config_.mpirun_ccl <= kMostProcesses,
          "{}: mpirun_ccl is {}, but must be between 0 and {}", file_, config_.mpirun_ccl, kMostProcesses);
  }

  std::string file_;
  LaunchConfig config_;
  std::vector<LaunchKey> keys_ = launch_keys(config_);
  std::vector<std::string> unknown_;
};

// use_cpu is the last key of every file that a program wrote. If it is missing and the last line has no newline, the
// file was cut off.
void check_whole(const io::Json& json, const std::string& text, const std::string& file) {
  check(text.empty() || text.ends_with('\n') || (json.is_object() && json.contains("use_cpu")),
        "{}, line {}: the line has no newline and use_cpu is missing, so the file seems to be cut off; if it is "
        "complete, "
        "add the newline",
        file, 1 + std::ranges::count(text, '\n'));
}

struct JsonOf {
  io::Json operator()(std::monostate) const { return nullptr; }
  template <class T>
  io::Json operator()(const T& value) const {
    return value;
  }
};

}  // namespace

std::filesystem::path default_config_path() { return io::hugging_face_home() / "accelerate" / "default_config.yaml"; }

LaunchConfig read_launch_config(const std::filesystem::path& path) {
  check(std::filesystem::exists(path), "there is no launch file {}; `hearth config` writes one", path.string());
  const std::string file = path.string(), text = io::read_file(path);
  io::Json json = is_json(path) ? io::parse_json(text, file) : io::parse_yaml(text, file);
  if (!is_json(path)) check_whole(json, text, file);
  check(json.is_object(), "{} is not a launch file: it must hold keys and values; `hearth config` writes one", file);
  const LaunchConfig config = Reader(file).read(std::move(json));
  if (config.ipex) log_info("{}: ipex has no effect: its optimizations are always on", file);
  return config;
}

io::Json launch_config_json(LaunchConfig config) {
  io::Json json{{"compute_environment", kThisMachine},
                {"downcast_bf16", "no"},
                {"tpu_env", io::Json::array()},
                {"tpu_use_cluster", false},
                {"tpu_use_sudo", false}};
  for (const LaunchKey& key : launch_keys(config)) {
    io::Json value = std::visit(JsonOf{}, value_of(key.target));
    if (value.is_null()) continue;
    (key.table.empty() ? json : json[std::string(key.table)])[std::string(key.name)] = std::move(value);
  }
  // Accelerate writes a number that the user typed as a string, and its own default as a number.
  if (config.mpirun_ccl != 1) json["mpirun_config"]["mpirun_ccl"] = std::to_string(config.mpirun_ccl);
  if (!config.mpirun_hostfile) json.erase("mpirun_config");
  if (!config.use_cpu && !config.ipex) json.erase("ipex_config");
  if (!config.dynamo_backend) json.erase("dynamo_config");
  return json;
}

void write_launch_config(const LaunchConfig& config, const std::filesystem::path& path) {
  const io::Json json = launch_config_json(config);
  if (path.has_parent_path()) io::create_directories(path.parent_path());
  io::replace_file(path, is_json(path) ? io::dump_json(json, 2, true) + "\n" : io::dump_yaml(json));
}

}  // namespace hearth::launch
