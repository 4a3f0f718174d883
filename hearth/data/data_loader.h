#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>

#include "hearth/base/api.h"
#include "hearth/data/dataset.h"

namespace hearth {

struct DataLoaderOptions {
  std::int64_t batch_size = 1;  // per rank
  bool shuffle = false;         // each epoch has an order of its own, a function of (seed, epoch)
  std::int64_t seed = 42;
  bool drop_last = false;            // drop the items that do not give every rank a full batch
  std::int64_t prefetch = 2;         // batches that a thread makes ahead
  std::int64_t rank = 0, world = 1;  // this process gets batches rank, rank + world, ... of the global list
};

// Where the iteration of a DataLoader stands. Several ranks move on together: a round is one batch of each.
struct LoaderPosition {
  bool iterating = false;
  bool at_end = false;     // this is the last round of the epoch
  std::int64_t rows = 0;   // of the batches of this round, of all ranks
  std::int64_t items = 0;  // the same without repetitions
};

// The batches of a dataset: `for (const BatchPtr& batch : loader)` is one epoch. With several ranks every rank gets the
// same number of full batches; the last ones repeat items from the epoch's beginning.
class HEARTH_API DataLoader {
 public:
  // `position` is kept up to date while somebody iterates. Loaders may share one: it is that of the innermost loop.
  DataLoader(DatasetPtr dataset, const DataLoaderOptions& options,
             std::shared_ptr<LoaderPosition> position = std::make_shared<LoaderPosition>());

  std::int64_t size() const;  // batches per epoch, of this rank
  const DataLoaderOptions& options() const { return options_; }
  const DatasetPtr& dataset() const { return dataset_; }
  void set_epoch(std::int64_t epoch) { next_epoch_ = epoch; }  // of the next iteration; iterating adds one
  const LoaderPosition& position() const { return *position_; }

  class Iterator {
   public:
    const BatchPtr& operator*() const { return batch_; }
    Iterator& operator++();
    bool operator==(std::default_sentinel_t) const { return batch_ == nullptr; }

   private:
    friend class DataLoader;
    struct Epoch;
    explicit Iterator(std::shared_ptr<Epoch> epoch);

    std::shared_ptr<Epoch> epoch_;
    BatchPtr batch_;
  };

  Iterator begin();  // starts the next epoch
  std::default_sentinel_t end() const { return {}; }

 private:
  DatasetPtr dataset_;
  DataLoaderOptions options_;
  std::int64_t next_epoch_ = 0;
  std::shared_ptr<LoaderPosition> position_;
};

}  // namespace hearth
