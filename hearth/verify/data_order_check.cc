#include <fmt/format.h>

#include <vector>

#include "hearth/data/sampler.h"
#include "hearth/io/json.h"
#include "hearth/verify/verify.h"

namespace hearth::verify {

void verify_data_order(const std::filesystem::path& file, Report& report) {
  for (const io::Json& golden : io::read_json(file)) {
    const auto number = [&](const char* key) { return golden.at(key).get<std::int64_t>(); };
    data::BatchOptions options;
    options.batch_size = number("batch_size");
    options.world = number("world");
    options.rank = number("rank");
    const data::RankBatches batches(data::shuffled_order(number("n"), number("seed"), number("epoch")), options);
    io::Json ours = io::Json::array();
    for (std::int64_t batch = 0; batch < batches.size(); ++batch) ours.push_back(batches[batch]);
    report.check_exact(fmt::format("data_order n {} batch {} seed {} epoch {} rank {} of {}", number("n"),
                                   options.batch_size, number("seed"), number("epoch"), options.rank, options.world),
                       ours == golden.at("batches"), ours == golden.at("batches") ? "" : "the batches differ");
  }
}

}  // namespace hearth::verify
