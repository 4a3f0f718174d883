#include "datasets.h"

#include "batch.h"
#include "bindings.h"
#include "hearth/base/check.h"
#include "hearth/data/token_dataset.h"
#include "hearth/tasks/masked_lm/dataset.h"

namespace hearth::python {
namespace {

using Ids = std::vector<std::vector<std::int32_t>>;
template <class T>
using Labels = std::map<std::string, std::vector<std::vector<T>>>;  // by name: the numbers of each text

template <class T>
std::map<std::string, std::vector<T>> labels_of(Labels<T>& labels, std::size_t text, std::size_t texts) {
  std::map<std::string, std::vector<T>> result;
  for (auto& [name, values] : labels) {
    check(values.size() == texts, "{} has {} entries, but input_ids has {}", name, values.size(), texts);
    result[name] = std::move(values[text]);
  }
  return result;
}

DatasetHandle token_dataset(Ids ids, Ids type_ids, Labels<std::int64_t> labels, Labels<float> float_labels) {
  auto data = std::make_shared<TokenDataset>();
  const std::size_t texts = ids.size();
  check(type_ids.empty() || type_ids.size() == texts, "token_type_ids has {} entries, but input_ids has {}",
        type_ids.size(), texts);
  for (std::size_t i = 0; i < texts; ++i)
    data->add_item(TokenItem{std::move(ids[i]), type_ids.empty() ? std::vector<std::int32_t>() : std::move(type_ids[i]),
                             labels_of(labels, i, texts), labels_of(float_labels, i, texts)});
  return {data};
}

// Texts that are masked anew in every epoch.
DatasetHandle masked_dataset(const Ids& ids, const Ids& type_ids, const tokenizer::Tokenizer& tokenizer,
                             double probability, bool whole_words, std::int64_t seed) {
  tasks::TokenRows rows;
  for (std::size_t i = 0; i < ids.size(); ++i)
    rows.append(
        tokenizer::Encoding{ids[i], type_ids.empty() ? std::vector<std::int32_t>(ids[i].size()) : type_ids[i], {}, {}});
  auto masking = std::make_shared<tasks::Masking>(tokenizer, tasks::MaskingOptions{probability, whole_words});
  return {std::make_shared<tasks::MaskedDataset>(std::move(rows), std::move(masking), seed, tasks::CollateOptions())};
}

// Data whose batches a function in Python makes: collate(items, first_sample) returns a PackedBatch.
class PythonDataset final : public Dataset {
 public:
  PythonDataset(std::vector<std::int64_t> lengths, nb::object collate)
      : lengths_(std::move(lengths)), collate_(std::move(collate)) {}

  std::int64_t size() const override { return static_cast<std::int64_t>(lengths_.size()); }
  std::int64_t length(std::int64_t item) const override { return lengths_.at(static_cast<std::size_t>(item)); }
  BatchPtr collate(std::span<const std::int64_t> items, std::uint32_t first_sample) const override {
    const nb::gil_scoped_acquire gil;
    const nb::object made = collate_.get()(std::vector<std::int64_t>(items.begin(), items.end()), first_sample);
    return nb::cast<PackedBatch>(made).batch;
  }

 private:
  std::vector<std::int64_t> lengths_;
  Held collate_;
};

// An epoch of a DataLoader.
struct LoaderIterator {
  DataLoader::Iterator at;
  bool begun = false;
};

}  // namespace

void bind_datasets(nb::module_& m) {
  nb::class_<DatasetHandle>(m, "Dataset").def("__len__", [](const DatasetHandle& self) { return self.data->size(); });
  m.def("token_dataset", token_dataset, WithoutGil());
  m.def("masked_dataset", masked_dataset, WithoutGil());
  m.def("python_dataset", [](std::vector<std::int64_t> lengths, nb::object collate) {
    return DatasetHandle{std::make_shared<PythonDataset>(std::move(lengths), std::move(collate))};
  });

  nb::class_<LoaderIterator>(m, "LoaderIterator").def("__next__", [](LoaderIterator& self) {
    {
      const nb::gil_scoped_release without_gil;
      if (std::exchange(self.begun, true)) ++self.at;
    }
    if (self.at == std::default_sentinel) throw nb::stop_iteration();
    return PackedBatch{*self.at};
  });
  nb::class_<DataLoader>(m, "DataLoader")
      .def(
          "__init__",
          [](DataLoader* self, const DatasetHandle& data, std::int64_t batch_size, bool shuffle, std::int64_t seed,
             bool drop_last) {
            new (self) DataLoader(data.data,
                                  {.batch_size = batch_size, .shuffle = shuffle, .seed = seed, .drop_last = drop_last});
          },
          nb::arg("dataset"), nb::arg("batch_size"), nb::arg("shuffle"), nb::arg("seed"), nb::arg("drop_last"))
      .def("__len__", &DataLoader::size)
      .def("set_epoch", &DataLoader::set_epoch)
      .def(
          "begin", [](DataLoader& self) { return LoaderIterator{self.begin()}; }, WithoutGil());
}

}  // namespace hearth::python
