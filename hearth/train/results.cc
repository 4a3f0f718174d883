#include "hearth/train/results.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "hearth/base/check.h"
#include "hearth/base/log.h"
#include "hearth/io/file.h"
#include "hearth/io/json.h"
#include "hearth/metrics/metrics_json.h"

namespace hearth {
namespace {

std::string metric_text(std::string_view key, const Number& value) {
  if (key.find("_mem_") != key.npos) return fmt::format("{}MB", value.as_integer() >> 20);
  if (key.find("_runtime") != key.npos) return duration_text(value.as_double());
  if (key == "total_flos") return fmt::format("{}GF", static_cast<long long>(value.as_double()) >> 30);
  if (value.is_integer()) return std::to_string(value.as_integer());
  return io::dump_json(rounded(value.as_double(), 4), io::kOneLine);
}

// What earlier commands have left in all_results.json. A damaged file must not cost the results of this one.
io::Json earlier_results(const std::filesystem::path& file) {
  if (!std::filesystem::exists(file)) return io::Json::object();
  try {
    io::Json results = io::read_json(file);
    check(results.is_object(), "{} holds no JSON object", file.string());
    return results;
  } catch (const Error& error) {
    log_warning("{}; the file is replaced", error.what());
    return io::Json::object();
  }
}

}  // namespace

std::string duration_text(double seconds) {
  const auto whole = static_cast<long long>(seconds);
  const auto hundredths = static_cast<int>((seconds - static_cast<double>(whole)) * 100);
  const long long days = whole / 86400;
  const std::string day_text = days == 0 ? "" : fmt::format("{} day{}, ", days, days == 1 ? "" : "s");
  return fmt::format("{}{}:{:02}:{:02}.{:02}", day_text, whole / 3600 % 24, whole / 60 % 60, whole % 60, hundredths);
}

bool is_score(std::string_view name) {
  if (!name.starts_with("eval_") || name.find("_mem_") != name.npos) return false;
  constexpr std::string_view kOthers[] = {"_runtime", "_per_second", "_time", "_samples"};
  return std::ranges::none_of(kOthers, [&](std::string_view other) {
    return name.ends_with(other) || name.ends_with(std::string(other) + "_mm");
  });
}

double rounded(double value, int digits) {
  if (!std::isfinite(value)) return value;
  const double scale = std::pow(10.0, digits);
  return std::nearbyint(value * scale) / scale;
}

std::string metrics_block(std::string_view split, const Metrics& metrics) {
  std::map<std::string, std::string> lines;
  std::size_t key_width = 0, value_width = 0;
  for (const auto& [key, value] : metrics) {
    const std::string text = metric_text(key, value);
    key_width = std::max(key_width, key.size());
    value_width = std::max(value_width, text.size());
    lines[key] = text;
  }
  std::string block = fmt::format("***** {} metrics *****\n", split);
  for (const auto& [key, text] : lines) block += fmt::format("  {:<{}} = {:>{}}\n", key, key_width, text, value_width);
  return block;
}

void save_metrics(const std::filesystem::path& output_dir, std::string_view split, const Metrics& metrics) {
  io::create_directories(output_dir);
  io::replace_file(output_dir / fmt::format("{}_results.json", split), io::dump_json(to_json(metrics), 4, true));
  const std::filesystem::path all = output_dir / "all_results.json";
  io::Json merged = earlier_results(all);
  merged.update(to_json(metrics));
  io::replace_file(all, io::dump_json(merged, 4, true));
}

void add_speed_metrics(Metrics& metrics, std::string_view prefix, double seconds, double samples, double steps) {
  metrics.set(fmt::format("{}_runtime", prefix), rounded(seconds, 4));
  if (seconds <= 0) return;
  metrics.set(fmt::format("{}_samples_per_second", prefix), rounded(samples / seconds, 3));
  metrics.set(fmt::format("{}_steps_per_second", prefix), rounded(steps / seconds, 3));
}

}  // namespace hearth
