#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "hearth/base/progress.h"
#include "hearth/data/feature_store.h"
#include "hearth/data/prefetch.h"
#include "hearth/io/user_folders.h"
#include "hearth/tasks/common/feature_check.h"
#include "hearth/tasks/task.h"

namespace hearth::tasks {

// Whether a FeatureStream checks that the tokens fit the model, and that all processes made the same features.
enum class Checks { by_stream, by_caller };

// Makes the features of a file part by part, below the progress bar "tokenising FILE". They go to files that are mapped
// into memory at the end (data/feature_store.h): memory does not grow with the number of rows.
template <class Features>
class FeatureStream {
 public:
  // `rows`: of the file, 0 if that is not known.
  FeatureStream(const std::string& file, std::int64_t rows, const TaskSetting& setting,
                Checks checks = Checks::by_stream)
      : store_(io::cache_folder() / "features"),
        check_(file, setting),
        checks_(checks),
        progress_("tokenising " + std::filesystem::path(file).filename().string(), rows,
                  setting.training.disable_tqdm.value_or(false) || !setting.team.is_first()) {}

  // `read` gives the next rows, until there are no more; it runs on a thread of its own, ahead of `prepare`, which
  // makes features of them and may use all threads.
  template <class Rows>
  void make(const std::function<std::optional<Rows>()>& read, const std::function<Features(const Rows&)>& prepare) {
    constexpr std::size_t kAhead = 2;
    data::Prefetcher<Rows> ahead(read, kAhead);
    std::int64_t done = 0;
    while (const std::optional<Rows> rows = ahead.next()) {
      const Features part = prepare(*rows);
      if (checks_ == Checks::by_stream) check_.add(part, part.arrays());
      store_.append(part);
      progress_.update(done += static_cast<std::int64_t>(rows->size()));
    }
  }

  Features finish() {
    if (checks_ == Checks::by_stream) check_.finish();
    return store_.finish();
  }

 private:
  data::FeatureStore<Features> store_;
  FeatureCheck check_;
  Checks checks_;
  Progress progress_;
};

}  // namespace hearth::tasks
