#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <ranges>
#include <span>
#include <utility>
#include <vector>

#include "hearth/io/growing_file.h"

namespace hearth::data {

// Numbers in a vector, which may grow, or in a mapped file, which may not.
template <class T>
class Array {
 public:
  using value_type = T;

  Array() = default;
  Array(std::vector<T> values) : values_(std::move(values)) {}
  Array(std::initializer_list<T> values) : values_(values) {}
  // A view of a mapped file, which lives as long as `owner`.
  Array(std::span<const T> mapped, std::shared_ptr<const void> owner) : mapped_(mapped), owner_(std::move(owner)) {}

  const T* data() const { return view().data(); }
  std::size_t size() const { return view().size(); }
  bool empty() const { return size() == 0; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size(); }
  const T& operator[](std::size_t i) const { return data()[i]; }
  const T& front() const { return *begin(); }
  const T& back() const { return *(end() - 1); }
  std::span<const T> view() const { return owner_ ? mapped_ : std::span<const T>(values_); }
  bool operator==(const Array& other) const { return std::ranges::equal(*this, other); }

  bool is_mapped() const { return owner_ != nullptr; }
  // Takes the pages of these items out of memory, if they are those of a file.
  void release(std::size_t begin, std::size_t count) const {
    if (is_mapped()) io::release_pages(std::as_bytes(mapped_.subspan(begin, count)));
  }

  // The vector, which may be changed; not of a mapped file.
  std::vector<T>& own() { return values_; }
  void push_back(T value) { values_.push_back(value); }
  template <std::ranges::input_range Range>
  void append(const Range& range) {
    values_.insert(values_.end(), std::ranges::begin(range), std::ranges::end(range));
  }
  void shrink(std::size_t size) {  // to the first items
    if (is_mapped()) {
      mapped_ = mapped_.first(size);
    } else {
      values_.resize(size);
    }
  }

 private:
  std::vector<T> values_;
  std::span<const T> mapped_;
  std::shared_ptr<const void> owner_;
};

}  // namespace hearth::data
