#include "hearth/data/data_loader.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "hearth/base/check.h"
#include "hearth/data/collate.h"
#include "hearth/data/prefetch.h"
#include "hearth/data/sampler.h"

namespace hearth {
namespace {

data::RankBatches batches_of(const Dataset& dataset, const DataLoaderOptions& options, std::int64_t epoch) {
  return {options.shuffle ? data::shuffled_order(dataset.size(), options.seed, epoch)
                          : data::sequential_order(dataset.size()),
          {options.batch_size, options.drop_last, options.world, options.rank}};
}

}  // namespace

// The batches of one epoch, made ahead on a thread.
struct DataLoader::Iterator::Epoch {
  Epoch(DatasetPtr data, const DataLoaderOptions& loader, std::int64_t number, std::shared_ptr<LoaderPosition> place)
      : dataset(std::move(data)),
        options(loader),
        epoch(number),
        batches(batches_of(*dataset, options, epoch)),
        position(std::move(place)),
        outer(*position),
        prefetched([this] { return make_next(); }, static_cast<std::size_t>(options.prefetch)) {}
  ~Epoch() { *position = outer; }
  Epoch(const Epoch&) = delete;
  Epoch& operator=(const Epoch&) = delete;

  std::optional<BatchPtr> make_next() {
    if (next >= batches.size()) return std::nullopt;
    const auto first_sample = static_cast<std::uint32_t>(options.rank * options.batch_size);
    return collate(*dataset, batches[next++], first_sample, epoch);
  }

  void move_on() {
    const std::int64_t per_round = options.batch_size * options.world;
    const std::int64_t items = std::min(per_round, dataset->size() - round * per_round);
    const std::int64_t rows = options.world == 1 ? items : per_round;
    *position = {true, ++round == batches.size(), rows, items};
  }

  DatasetPtr dataset;
  DataLoaderOptions options;
  std::int64_t epoch;
  data::RankBatches batches;
  std::int64_t next = 0;   // batch to make
  std::int64_t round = 0;  // rounds begun
  std::shared_ptr<LoaderPosition> position;
  LoaderPosition outer;                   // of the loop around this one
  data::Prefetcher<BatchPtr> prefetched;  // last: its thread uses the members above
};

DataLoader::Iterator::Iterator(std::shared_ptr<Epoch> epoch) : epoch_(std::move(epoch)) { ++*this; }

DataLoader::Iterator& DataLoader::Iterator::operator++() {
  std::optional<BatchPtr> next = epoch_->prefetched.next();
  batch_ = next ? std::move(*next) : nullptr;
  if (batch_ != nullptr)
    epoch_->move_on();
  else
    epoch_.reset();
  return *this;
}

DataLoader::DataLoader(DatasetPtr dataset, const DataLoaderOptions& options, std::shared_ptr<LoaderPosition> position)
    : dataset_(std::move(dataset)), options_(options), position_(std::move(position)) {
  check(dataset_ != nullptr, "[DataLoader] there is no dataset: give it a std::shared_ptr to one");
  check(dataset_->size() > 0, "[DataLoader] the dataset is empty");
  check(options.batch_size > 0, "[DataLoader] batch_size must be at least 1, got {}", options.batch_size);
  check(options.world > 0 && options.rank >= 0 && options.rank < options.world,
        "[DataLoader] there is no rank {} of {}", options.rank, options.world);
}

std::int64_t DataLoader::size() const { return batches_of(*dataset_, options_, 0).size(); }

DataLoader::Iterator DataLoader::begin() {
  return Iterator(std::make_shared<Iterator::Epoch>(dataset_, options_, next_epoch_++, position_));
}

}  // namespace hearth
