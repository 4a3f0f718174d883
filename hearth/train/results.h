#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "hearth/metrics/metrics.h"

namespace hearth {

// "***** train metrics *****" and one line per metric, as the Trainer prints them.
std::string metrics_block(std::string_view split, const Metrics& metrics);

// Writes SPLIT_results.json and merges the metrics into all_results.json.
void save_metrics(const std::filesystem::path& output_dir, std::string_view split, const Metrics& metrics);

// Adds PREFIX_runtime, PREFIX_samples_per_second and PREFIX_steps_per_second, rounded as the Trainer rounds them.
void add_speed_metrics(Metrics& metrics, std::string_view prefix, double seconds, double samples, double steps);

// "0:12:33.45", or "1 day, 1:00:00.00", as Python prints a timedelta.
std::string duration_text(double seconds);

// Whether a metric of an evaluation is a measure of quality: neither a time, a speed, memory nor a count.
bool is_score(std::string_view name);

double rounded(double value, int digits);

}  // namespace hearth
