#include "hearth/tasks/common/tokenizing.h"

#include <filesystem>
#include <mutex>

#include "hearth/base/check.h"
#include "hearth/base/progress.h"
#include "hearth/cpu/parallel.h"
#include "hearth/io/sha256.h"

namespace hearth::tasks {
namespace {

constexpr std::int64_t kRowsPerTask = 256;

std::string digest_of(const TokenRows& rows, const std::vector<std::span<const std::byte>>& arrays) {
  io::Sha256 hash;
  hash.update(std::as_bytes(rows.starts.view()));
  hash.update(std::as_bytes(rows.ids.view()));
  hash.update(std::as_bytes(rows.type_ids.view()));
  for (const auto& array : arrays) hash.update(array);
  return fmt::format("{} rows ({})", rows.rows(), hash.hex().substr(0, 12));
}

}  // namespace

void for_each_row(const std::string& file, std::int64_t rows, const TaskSetting& setting,
                  const std::function<void(std::int64_t row)>& work) {
  Progress progress("tokenising " + std::filesystem::path(file).filename().string(), rows,
                    setting.training.disable_tqdm.value_or(false) || !setting.team.is_first());
  std::mutex mutex;
  std::int64_t done = 0;
  cpu::parallel_chunks(rows, kRowsPerTask, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) work(row);
    const std::lock_guard lock(mutex);
    done += end - begin;
    progress.update(done);
  });
}

void check_rows(const TokenRows& rows, const std::vector<std::span<const std::byte>>& arrays, const std::string& file,
                const TaskSetting& setting) {
  check_vocabulary(rows, setting, file);
  if (setting.team.size() > 1)
    setting.team.check_agreement(
        {{"the data of " + std::filesystem::path(file).filename().string(), digest_of(rows, arrays)}});
}

}  // namespace hearth::tasks
