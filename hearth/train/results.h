#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "hearth/io/json.h"

namespace hearth {

// "***** train metrics *****" and a line a metric, as the Trainer prints them.
std::string metrics_block(std::string_view split, const io::Json& metrics);

// Writes SPLIT_results.json and merges the metrics into all_results.json.
void save_metrics(const std::filesystem::path& output_dir, std::string_view split, const io::Json& metrics);

// runtime, samples_per_second and steps_per_second under the prefix, rounded as the Trainer does.
void add_speed_metrics(io::Json& metrics, std::string_view prefix, double seconds, double samples, double steps);

double rounded(double value, int digits);

}  // namespace hearth
