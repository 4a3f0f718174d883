#include "hearth/io/torch_file.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <map>

#include "hearth/base/check.h"
#include "hearth/io/json.h"
#include "hearth/io/pickle.h"

namespace hearth::io {
namespace {

constexpr const char *kRebuildTensor = "torch._utils._rebuild_tensor_v2", *kOrderedDict = "collections.OrderedDict";
constexpr std::string_view kRebuildOther = "torch._utils._rebuild_tensor_v3",
                           kRebuildParameter = "torch._utils._rebuild_parameter", kSize = "torch.Size";

// Names whose values Hearth does not use: NumPy's random state, devices, and dtypes.
constexpr std::array<std::string_view, 21> kUnused = {
    "numpy._core.multiarray._reconstruct",
    "numpy.core.multiarray._reconstruct",
    "numpy.ndarray",
    "numpy.dtype",
    "_codecs.encode",
    "torch.device",
    "torch.float64",
    "torch.float32",
    "torch.float16",
    "torch.bfloat16",
    "torch.float8_e4m3fn",
    "torch.float8_e4m3fnuz",
    "torch.float8_e5m2",
    "torch.float8_e5m2fnuz",
    "torch.float8_e8m0fnu",
    "torch.uint16",
    "torch.uint32",
    "torch.uint64",
    "torch.int64",
    "torch.int32",
    "torch.bool",
};
struct Unused {};  // the object that a call of such a name makes

bool is_unused(std::string_view global) { return std::ranges::find(kUnused, global) != kUnused.end(); }

bool is_known(std::string_view global) {
  return global == kRebuildTensor || global == kRebuildOther || global == kRebuildParameter || global == kOrderedDict ||
         global == kSize || is_unused(global) || find_torch_dtype(global) != nullptr;
}

using StoragePtr = std::shared_ptr<TorchStorage>;

class TorchReader {
 public:
  explicit TorchReader(const std::filesystem::path& path)
      : file_(std::make_shared<const MappedFile>(path)), name_(path.string()) {}

  PickleValue read() {
    check(!file_->text().starts_with("version https://git-lfs"),
          "{} is a Git LFS pointer, not the file itself: fetch it with git lfs pull", name_);
    if (ZipFile::is_zip(file_->text())) return read_zip();
    check(file_->text().starts_with(kOldMagic),
          "{} is cut off or not a file of torch.save: it begins neither as a zip file nor as PyTorch's older format",
          name_);
    return read_old();
  }

 private:
  // The format from before PyTorch 1.6 begins with the pickle of a magic number.
  static constexpr std::string_view kOldMagic = "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.";

  PickleValue read_zip() {
    const ZipFile zip(file_);
    constexpr std::string_view kPickle = "/data.pkl";
    std::string folder;
    for (const auto& [entry, bytes] : zip.entries())
      if (entry.ends_with(kPickle)) folder = entry.substr(0, entry.size() - kPickle.size());
    check(!folder.empty(), "{} is a zip file but not one of torch.save: it has no data.pkl", name_);
    check(!zip.contains(folder + "/constants.pkl"),
          "{} is a TorchScript program, not a file of weights: save model.state_dict() with torch.save", name_);
    check_byte_order(!zip.contains(folder + "/byteorder") || zip.entry(folder + "/byteorder") == "little");
    const PickleValue value = read_pickle(zip.entry(folder + std::string(kPickle)), name_, rules()).value;
    for (const auto& [key, storage] : storages_) {
      const std::string_view bytes = zip.entry(folder + "/data/" + key);
      check(bytes.size() == bytes_of(*storage),
            "{} contradicts itself: the storage {} of {} elements of {} takes {} bytes, but the file has {} of it",
            name_, excerpt(key), storage->elements, storage->dtype, bytes_of(*storage), bytes.size());
      give_values(*storage, bytes);
    }
    return value;
  }

  // After the magic number: pickles of the version, of facts about the machine, of the value and of the storages' keys,
  // then each storage's number of elements and values.
  PickleValue read_old() {
    std::string_view rest = file_->text().substr(kOldMagic.size());
    const auto take = [&](std::size_t size) {
      check(size <= rest.size(), "{} is cut off: values of its tensors are missing", name_);
      const std::string_view taken = rest.substr(0, size);
      rest.remove_prefix(size);
      return taken;
    };
    const auto next_pickle = [&] {
      ReadPickle next = read_pickle(rest, name_, rules());
      rest.remove_prefix(next.size);
      return next.value;
    };
    next_pickle();
    const PickleValue machine = next_pickle();
    const PickleValue* const little_endian = machine.find("little_endian");
    const bool* const is_little = little_endian == nullptr ? nullptr : little_endian->get_if<bool>();
    check_byte_order(is_little != nullptr && *is_little);
    PickleValue value = next_pickle();
    for (const PickleValue& each : items<PickleValue::List>(next_pickle(), "the list of storages")) {
      const auto* const key = each.get_if<std::string>();
      const auto found = key == nullptr ? storages_.end() : storages_.find(*key);
      if (found == storages_.end()) fail_as_damaged("the list of storages");
      TorchStorage& storage = *found->second;
      std::int64_t elements = 0;
      std::memcpy(&elements, take(sizeof elements).data(), sizeof elements);
      if (elements != storage.elements) fail_as_damaged("a storage");
      give_values(storage, take(bytes_of(storage)));
    }
    for (const auto& [key, storage] : storages_)
      check(storage->owner != nullptr, "{} is damaged: the values of the storage {} are missing", name_, excerpt(key));
    return value;
  }

  void check_byte_order(bool is_little) const {
    check(is_little, "{} was written on a big-endian machine, which Hearth does not read: save it again on this one",
          name_);
  }

  static std::size_t bytes_of(const TorchStorage& storage) {
    return static_cast<std::size_t>(storage.elements) * storage.element_bytes;
  }

  void give_values(TorchStorage& storage, std::string_view bytes) const {
    storage.bytes = bytes;
    storage.owner = file_;
  }

  PickleRules rules() {
    return {.check_global = [this](const std::string& global) { check_global(global); },
            .make = [this](const std::string& global, const auto& arguments) { return make(global, arguments); },
            .find_persistent = [this](const PickleValue& id) { return find_storage(id); }};
  }

  void check_global(const std::string& global) const {
    check(is_known(global),
          "{}: the pickle names {}, which is not one of the classes of weights and training states that Hearth reads; "
          "the file is refused, and nothing of it was run",
          name_, excerpt(global));
  }

  [[noreturn]] void fail_as_damaged(std::string_view part) const {
    fail("{} is damaged: {} is not as PyTorch writes it", name_, part);
  }

  template <class T>
  const T& as(const PickleValue& value, std::string_view part) const {
    const T* const found = value.get_if<T>();
    if (found == nullptr) fail_as_damaged(part);
    return *found;
  }

  template <class Container>
  std::vector<PickleValue> items(const PickleValue& value, std::string_view part) const {
    return as<Container>(value, part).items;
  }

  std::vector<std::int64_t> integers(const PickleValue& value) const {
    std::vector<std::int64_t> numbers;
    for (const PickleValue& item : items<PickleValue::Tuple>(value, "a shape"))
      numbers.push_back(as<std::int64_t>(item, "a shape"));
    return numbers;
  }

  PickleValue make(const std::string& global, const std::vector<PickleValue>& arguments) const {
    if (global == kRebuildTensor || global == kRebuildOther) return make_tensor(arguments);
    if (global == kRebuildParameter && !arguments.empty()) return arguments[0];
    if (global == kSize && arguments.size() == 1) return arguments[0];
    if (global == kOrderedDict && arguments.empty()) return PickleValue::Dict{};
    if (!is_unused(global)) fail_as_damaged("a call of " + global);
    return PickleValue::object(Unused{});
  }

  // Arguments: storage, offset, shape, strides, requires_grad, hooks; of _rebuild_tensor_v3 also the dtype, one that
  // has no storage class of its own and that Hearth does not have either.
  PickleValue make_tensor(const std::vector<PickleValue>& arguments) const {
    const auto* const storage = arguments.size() < 6 ? nullptr : arguments[0].object_if<StoragePtr>();
    if (storage == nullptr) fail_as_damaged("a tensor");
    StoragePtr its_storage = *storage;
    if (arguments.size() > 6 && arguments[6].get_if<PickleValue::Global>() != nullptr) {
      its_storage = std::make_shared<TorchStorage>(**storage);
      its_storage->dtype = arguments[6].get_if<PickleValue::Global>()->name;
      its_storage->type.reset();
    }
    return PickleValue::object(TorchTensor(its_storage, as<std::int64_t>(arguments[1], "a tensor"),
                                           integers(arguments[2]), integers(arguments[3]), name_));
  }

  // The id is a tuple: "storage", its class, its key, its device, the number of its elements.
  PickleValue find_storage(const PickleValue& id) {
    const std::vector<PickleValue> parts = items<PickleValue::Tuple>(id, "a storage");
    if (parts.size() < 5 || as<std::string>(parts[0], "a storage") != "storage") fail_as_damaged("a storage");
    const bool is_view = parts.size() > 5 && parts[5].get_if<PickleValue::None>() == nullptr;
    check(!is_view, "{} was written by a PyTorch before 0.4: load it in Python and save it again", name_);
    const std::string& type = as<PickleValue::Global>(parts[1], "a storage").name;
    const TorchDType* const dtype = find_torch_dtype(type);
    const std::int64_t elements = as<std::int64_t>(parts[4], "a storage");
    const auto most = static_cast<std::int64_t>(file_->size());
    if (dtype == nullptr) fail_as_damaged("a storage");
    check(elements >= 0 && elements <= most, "{} is cut off or damaged: a storage would have {} elements", name_,
          elements);
    const std::string& key = as<std::string>(parts[2], "a storage");
    const auto [place, is_new] = storages_.try_emplace(key);
    if (is_new)
      place->second = std::make_shared<TorchStorage>(
          TorchStorage{std::string(dtype->name), dtype->type, elements, dtype->bytes, {}, {}});
    if (place->second->dtype != dtype->name || place->second->elements != elements) fail_as_damaged("a storage");
    return PickleValue::object(place->second);
  }

  std::shared_ptr<const MappedFile> file_;
  std::string name_;
  std::map<std::string, StoragePtr> storages_;  // by key
};

Json json_of(const PickleValue& value) {
  if (const auto* const truth = value.get_if<bool>()) return *truth;
  if (const auto* const integer = value.get_if<std::int64_t>()) return *integer;
  if (const auto* const real = value.get_if<double>()) return *real;
  if (const auto* const text = value.get_if<std::string>()) return *text;
  const auto array_of = [](const std::vector<PickleValue>& items) {
    Json array = Json::array();
    for (const PickleValue& item : items) array.push_back(json_of(item));
    return array;
  };
  if (const auto* const list = value.get_if<PickleValue::List>()) return array_of(list->items);
  if (const auto* const tuple = value.get_if<PickleValue::Tuple>()) return array_of(tuple->items);
  const auto* const dict = value.get_if<PickleValue::Dict>();
  if (dict == nullptr) return nullptr;
  Json object = Json::object();
  for (const auto& [key, item] : dict->items)
    if (const auto* const name = key.get_if<std::string>()) object[*name] = json_of(item);
  return object;
}

}  // namespace

PickleValue read_torch(const std::filesystem::path& path) { return TorchReader(path).read(); }

Json read_torch_as_json(const std::filesystem::path& path) { return json_of(read_torch(path)); }

std::vector<std::pair<std::string, TorchTensor>> read_state_dict(const std::filesystem::path& path) {
  const PickleValue value = read_torch(path);
  const auto* const dict = value.get_if<PickleValue::Dict>();
  check(dict != nullptr, "{} is not a state dict: save model.state_dict() with torch.save", path.string());
  std::vector<std::pair<std::string, TorchTensor>> tensors;
  for (const auto& [key, item] : dict->items) {
    const auto* const name = key.get_if<std::string>();
    const auto* const tensor = item.object_if<TorchTensor>();
    if (name != nullptr && tensor != nullptr) tensors.emplace_back(*name, *tensor);
  }
  return tensors;
}

TorchWriter::TorchWriter(const std::filesystem::path& path) : zip_(path), folder_(path.stem().string()) {}

PickleValue TorchWriter::tensor(const Tensor& values) {
  const TorchDType& dtype = torch_dtype_of(values.type());
  const std::string key = std::to_string(storages_++);
  zip_.add(folder_ + "/data/" + key, {static_cast<const char*>(values.raw()), values.bytes()});
  PickleValue::Tuple shape, strides;
  std::int64_t stride = values.size();
  for (const std::int64_t dim : values.shape().dims()) {
    stride /= std::max<std::int64_t>(dim, 1);
    shape.items.emplace_back(dim);
    strides.items.emplace_back(stride);
  }
  const PickleValue storage = PickleValue::object(PersistentId{
      PickleValue::Tuple{{"storage", PickleValue::Global{std::string(dtype.storage)}, key, "cpu", values.size()}}});
  const PickleValue no_hooks = PickleValue::object(PickleCall{kOrderedDict, {}});
  return PickleValue::object(
      PickleCall{kRebuildTensor, {storage, std::int64_t{0}, std::move(shape), std::move(strides), false, no_hooks}});
}

void TorchWriter::commit(const PickleValue& value) {
  zip_.add(folder_ + "/data.pkl", write_pickle(value));
  zip_.add(folder_ + "/byteorder", "little");
  zip_.add(folder_ + "/version", "3\n");
  zip_.commit();
}

}  // namespace hearth::io
