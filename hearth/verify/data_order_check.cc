#include <fmt/format.h>

#include <vector>

#include "hearth/base/check.h"
#include "hearth/data/sampler.h"
#include "hearth/io/json.h"
#include "hearth/verify/golden.h"
#include "hearth/verify/verify.h"

namespace hearth::verify {

void verify_data_order(const std::filesystem::path& file, Report& report) {
  const std::string name = file.string();
  const io::Json orders = io::read_json(file);
  check(orders.is_array(), "{} must hold a list of orders", name);
  for (const io::Json& golden : orders) {
    const auto number = [&](const char* key) { return io::get_int(golden, key, name); };
    data::BatchOptions options;
    options.batch_size = number("batch_size");
    options.world = number("world");
    options.rank = number("rank");
    const data::RankBatches batches(data::shuffled_order(number("n"), number("seed"), number("epoch")), options);
    io::Json ours = io::Json::array();
    for (std::int64_t batch = 0; batch < batches.size(); ++batch) ours.push_back(batches[batch]);
    const bool equal = ours == list_at(golden, "batches", name);
    report.check_exact(fmt::format("data_order n {} batch {} seed {} epoch {} rank {} of {}", number("n"),
                                   options.batch_size, number("seed"), number("epoch"), options.rank, options.world),
                       equal, equal ? "" : "the batches differ");
  }
}

}  // namespace hearth::verify
