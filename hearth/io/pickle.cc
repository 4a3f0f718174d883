// A pickle is a program for a machine with a stack and a memo. Opcodes push values, pop them into containers, and store
// values in the memo or fetch them from it. MARK begins a run of items that a later opcode takes off the stack at once.
#include "hearth/io/pickle.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <span>
#include <unordered_map>

#include "hearth/base/check.h"
#include "hearth/io/json.h"

namespace hearth::io {
namespace {

// Beyond these a file is made to exhaust whoever walks over it: values may be shared, and each level double them.
constexpr int kMostLevels = 100;
constexpr std::uint64_t kMostValues = 10'000'000;

enum Opcode : unsigned char {
  kMark = '(',
  kStop = '.',
  kBinInt = 'J',
  kBinInt1 = 'K',
  kBinInt2 = 'M',
  kNone = 'N',
  kBinPersId = 'Q',
  kReduce = 'R',
  kBinUnicode = 'X',
  kAppend = 'a',
  kBuild = 'b',
  kGlobal = 'c',
  kAppends = 'e',
  kBinFloat = 'G',
  kBinGet = 'h',
  kLongBinGet = 'j',
  kEmptyList = ']',
  kBinPut = 'q',
  kLongBinPut = 'r',
  kSetItem = 's',
  kTuple = 't',
  kEmptyTuple = ')',
  kSetItems = 'u',
  kEmptyDict = '}',
  kProto = 0x80,
  kTuple1 = 0x85,
  kTuple2 = 0x86,
  kTuple3 = 0x87,
  kNewTrue = 0x88,
  kNewFalse = 0x89,
  kLong1 = 0x8a,
};

// Opcodes of Python that are refused, for errors.
constexpr std::array<std::pair<unsigned char, std::string_view>, 36> kRefused{{
    {'0', "POP"},
    {'1', "POP_MARK"},
    {'2', "DUP"},
    {'F', "FLOAT"},
    {'I', "INT"},
    {'L', "LONG"},
    {'P', "PERSID"},
    {'S', "STRING"},
    {'T', "BINSTRING"},
    {'U', "SHORT_BINSTRING"},
    {'V', "UNICODE"},
    {'B', "BINBYTES"},
    {'C', "SHORT_BINBYTES"},
    {'d', "DICT"},
    {'g', "GET"},
    {'i', "INST"},
    {'l', "LIST"},
    {'o', "OBJ"},
    {'p', "PUT"},
    {0x81, "NEWOBJ"},
    {0x82, "EXT1"},
    {0x83, "EXT2"},
    {0x84, "EXT4"},
    {0x8b, "LONG4"},
    {0x8c, "SHORT_BINUNICODE"},
    {0x8d, "BINUNICODE8"},
    {0x8e, "BINBYTES8"},
    {0x8f, "EMPTY_SET"},
    {0x90, "ADDITEMS"},
    {0x91, "FROZENSET"},
    {0x92, "NEWOBJ_EX"},
    {0x93, "STACK_GLOBAL"},
    {0x94, "MEMOIZE"},
    {0x95, "FRAME"},
    {0x96, "BYTEARRAY8"},
    {0x97, "NEXT_BUFFER"},
}};

std::string name_of_refused(unsigned char opcode) {
  const auto* const found = std::ranges::find(kRefused, opcode, &std::pair<unsigned char, std::string_view>::first);
  return found == kRefused.end() ? fmt::format("0x{:02x}", opcode) : std::string(found->second);
}

}  // namespace

class PickleReader {
 public:
  PickleReader(std::string_view bytes, const std::string& file, const PickleRules& rules)
      : bytes_(bytes), file_(file), rules_(rules) {}

  ReadPickle read() {
    check(!bytes_.empty() && static_cast<unsigned char>(bytes_[0]) == kProto,
          "{}: there is no pickle of protocol 2 where one should begin", file_);
    for (;;) {
      const auto opcode = static_cast<unsigned char>(take(1)[0]);
      if (opcode == kStop) break;
      apply(opcode);
    }
    const PickleValue value = pop();
    if (!stack_.empty()) fail_as_damaged();
    return {value, at_};
  }

 private:
  void apply(unsigned char opcode) {
    switch (opcode) {
      case kProto:
        return check_protocol();
      case kMark:
        return marks_.push_back(stack_.size());
      case kNone:
        return push(PickleValue());
      case kNewTrue:
        return push(true);
      case kNewFalse:
        return push(false);
      case kBinInt:
        return push(std::int64_t{number<std::int32_t>()});
      case kBinInt1:
        return push(std::int64_t{number<std::uint8_t>()});
      case kBinInt2:
        return push(std::int64_t{number<std::uint16_t>()});
      case kLong1:
        return push(long_integer());
      case kBinFloat:
        return push(std::bit_cast<double>(__builtin_bswap64(number<std::uint64_t>())));
      case kBinUnicode:
        return push(std::string(take(number<std::uint32_t>())));
      case kGlobal:
        return push(global());
      case kEmptyList:
        return push(PickleValue::List{});
      case kEmptyDict:
        return push(PickleValue::Dict{});
      case kEmptyTuple:
        return push(PickleValue::Tuple{});
      case kTuple1:
        return push_tuple(pop_last(1));
      case kTuple2:
        return push_tuple(pop_last(2));
      case kTuple3:
        return push_tuple(pop_last(3));
      case kTuple:
        return push_tuple(pop_to_mark());
      case kAppend:
        return append(pop_last(1));
      case kAppends:
        return append(pop_to_mark());
      case kSetItem:
        return set_items(pop_last(2));
      case kSetItems:
        return set_items(pop_to_mark());
      case kBinPut:
        return put(number<std::uint8_t>());
      case kLongBinPut:
        return put(number<std::uint32_t>());
      case kBinGet:
        return get(number<std::uint8_t>());
      case kLongBinGet:
        return get(number<std::uint32_t>());
      case kBinPersId:
        return push(rules_.find_persistent(pop()));
      case kReduce:
        return reduce();
      case kBuild:
        return build();
      default:
        fail(
            "{}: the pickle has the opcode {} at byte {}, which torch.save does not write; the file is refused, and "
            "nothing of it was run",
            file_, name_of_refused(opcode), at_ - 1);
    }
  }

  void check_protocol() {
    const unsigned protocol = number<std::uint8_t>();
    check(protocol == 2, "{}: the pickle has protocol {}; save it with torch.save's own, which is 2", file_, protocol);
  }

  [[noreturn]] void fail_as_damaged() const { fail("{}: the pickle is damaged before byte {}", file_, at_); }

  std::string_view take(std::size_t count) {
    check(count <= bytes_.size() - at_, "{}: the pickle is cut off at byte {}", file_, bytes_.size());
    at_ += count;
    return bytes_.substr(at_ - count, count);
  }

  template <class Number>
  Number number() {
    Number value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }

  std::int64_t long_integer() {
    const std::string_view digits = take(number<std::uint8_t>());
    check(digits.size() <= sizeof(std::int64_t), "{}: an integer of the pickle, before byte {}, has more than 64 bits",
          file_, at_);
    std::int64_t value = !digits.empty() && static_cast<signed char>(digits.back()) < 0 ? -1 : 0;
    std::memcpy(&value, digits.data(), digits.size());
    return value;
  }

  std::string_view line() {
    const std::size_t end = bytes_.find('\n', at_);
    check(end != bytes_.npos, "{}: the pickle is cut off at byte {}", file_, bytes_.size());
    const std::string_view text = take(end - at_);
    take(1);
    return text;
  }

  PickleValue global() {
    const std::string_view module = line(), name = line();
    PickleValue::Global global{fmt::format("{}.{}", module, name)};
    rules_.check_global(global.name);
    return global;
  }

  void check_extent(const PickleValue::Extent& extent) const {
    check(extent.depth <= kMostLevels, "{}: the pickle has more than {} levels of lists and dicts within each other",
          file_, kMostLevels);
    check(extent.values <= kMostValues, "{}: the pickle has more than {} values", file_, kMostValues);
  }

  void push(PickleValue value) {
    check_extent(value.extent());
    stack_.push_back(std::move(value));
  }
  void push_tuple(std::vector<PickleValue> items) { push(PickleValue::Tuple{std::move(items)}); }

  // Items before the last mark are not to be had.
  std::size_t available() const { return stack_.size() - (marks_.empty() ? 0 : marks_.back()); }

  std::vector<PickleValue> pop_last(std::size_t count) {
    if (count > available()) fail_as_damaged();
    std::vector<PickleValue> items(stack_.end() - static_cast<std::ptrdiff_t>(count), stack_.end());
    stack_.resize(stack_.size() - count);
    return items;
  }
  PickleValue pop() { return pop_last(1)[0]; }

  std::vector<PickleValue> pop_to_mark() {
    if (marks_.empty()) fail_as_damaged();
    std::vector<PickleValue> items = pop_last(available());
    marks_.pop_back();
    return items;
  }

  // The list or dict on top of the stack, to which the items are added.
  template <class Container>
  Container& open_container(const std::vector<PickleValue>& items) {
    if (available() == 0) fail_as_damaged();
    PickleValue::Node& node = *stack_.back().node_;
    auto* const container = std::get_if<Container>(&node.data);
    if (container == nullptr || node.closed) fail_as_damaged();
    for (const PickleValue& item : items) node.extent.enclose(item.extent());
    check_extent(node.extent);
    return *container;
  }

  void append(std::vector<PickleValue> items) {
    auto& list = open_container<PickleValue::List>(items);
    for (PickleValue& item : items) list.items.push_back(std::move(item));
  }

  void set_items(std::vector<PickleValue> items) {
    if (items.size() % 2 != 0) fail_as_damaged();
    auto& dict = open_container<PickleValue::Dict>(items);
    for (std::size_t i = 0; i < items.size(); i += 2)
      dict.items.emplace_back(std::move(items[i]), std::move(items[i + 1]));
  }

  void put(std::uint32_t index) {
    if (available() == 0) fail_as_damaged();
    memo_.insert_or_assign(index, stack_.back());
  }

  // A container that was fetched takes no more items, so none ever contains itself.
  void get(std::uint32_t index) {
    const auto found = memo_.find(index);
    if (found == memo_.end()) fail_as_damaged();
    found->second.node_->closed = true;
    push(found->second);
  }

  void reduce() {
    const std::vector<PickleValue> pair = pop_last(2);
    const auto* const global = pair[0].get_if<PickleValue::Global>();
    const auto* const arguments = pair[1].get_if<PickleValue::Tuple>();
    if (global == nullptr || arguments == nullptr) fail_as_damaged();
    push(rules_.make(global->name, arguments->items));
  }

  // Sets attributes of an object, which no reader needs: the _metadata of a module's state dict, say.
  void build() {
    pop();
    if (available() == 0) fail_as_damaged();
    const PickleValue& object = stack_.back();
    if (object.get_if<PickleValue::Dict>() == nullptr && object.get_if<std::any>() == nullptr) fail_as_damaged();
  }

  std::string_view bytes_;
  const std::string& file_;
  const PickleRules& rules_;
  std::size_t at_ = 0;
  std::vector<PickleValue> stack_;
  std::vector<std::size_t> marks_;
  std::unordered_map<std::uint32_t, PickleValue> memo_;
};

ReadPickle read_pickle(std::string_view bytes, const std::string& file, const PickleRules& rules) {
  return PickleReader(bytes, file, rules).read();
}

namespace {

class PickleWriter {
 public:
  std::string write(const PickleValue& value) {
    opcode(kProto);
    bytes_ += '\2';
    put(value);
    opcode(kStop);
    return std::move(bytes_);
  }

 private:
  void put(const PickleValue& value) {
    if (const auto* const truth = value.get_if<bool>()) return opcode(*truth ? kNewTrue : kNewFalse);
    if (const auto* const integer = value.get_if<std::int64_t>()) return put(*integer);
    if (const auto* const real = value.get_if<double>()) {
      opcode(kBinFloat);
      return number(__builtin_bswap64(std::bit_cast<std::uint64_t>(*real)));
    }
    if (const auto* const text = value.get_if<std::string>()) return put(*text);
    if (const auto* const global = value.get_if<PickleValue::Global>()) return put(*global);
    if (const auto* const list = value.get_if<PickleValue::List>()) {
      opcode(kEmptyList);
      opcode(kMark);
      for (const PickleValue& item : list->items) put(item);
      return opcode(kAppends);
    }
    if (const auto* const tuple = value.get_if<PickleValue::Tuple>()) return put_tuple(tuple->items);
    if (const auto* const dict = value.get_if<PickleValue::Dict>()) {
      opcode(kEmptyDict);
      opcode(kMark);
      for (const auto& [key, item] : dict->items) {
        put(key);
        put(item);
      }
      return opcode(kSetItems);
    }
    if (const auto* const call = value.object_if<PickleCall>()) {
      put(PickleValue::Global{call->global});
      put_tuple(call->arguments);
      return opcode(kReduce);
    }
    if (const auto* const outside = value.object_if<PersistentId>()) {
      put(outside->id);
      return opcode(kBinPersId);
    }
    check(value.get_if<PickleValue::None>() != nullptr, "[write_pickle] an object of a type that has no pickle");
    opcode(kNone);
  }

  void put(std::int64_t value) {
    if (value >= std::numeric_limits<std::int32_t>::min() && value <= std::numeric_limits<std::int32_t>::max()) {
      opcode(kBinInt);
      return number(static_cast<std::int32_t>(value));
    }
    opcode(kLong1);
    bytes_ += static_cast<char>(sizeof value);
    number(value);
  }

  void put(const std::string& text) {
    opcode(kBinUnicode);
    number(static_cast<std::uint32_t>(text.size()));
    bytes_ += text;
  }

  void put(const PickleValue::Global& global) {
    const std::size_t dot = global.name.rfind('.');
    opcode(kGlobal);
    bytes_ += global.name.substr(0, dot) + '\n' + global.name.substr(dot + 1) + '\n';
  }

  void put_tuple(const std::vector<PickleValue>& items) {
    opcode(kMark);
    for (const PickleValue& item : items) put(item);
    opcode(kTuple);
  }

  void opcode(Opcode code) { bytes_ += static_cast<char>(code); }

  template <class Number>
  void number(Number value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }

  std::string bytes_;
};

}  // namespace

std::string write_pickle(const PickleValue& value) { return PickleWriter().write(value); }

}  // namespace hearth::io
