#include "hearth/data/collate.h"

#include <fmt/ranges.h>

#include <new>
#include <system_error>

#include "hearth/base/check.h"

namespace hearth {
namespace {

std::string text_of(std::span<const std::int64_t> items) {
  constexpr std::size_t kShown = 8;
  return fmt::format("{}{}", fmt::join(items.first(std::min(kShown, items.size())), ", "),
                     items.size() > kShown ? ", ..." : "");
}

}  // namespace

BatchPtr collate(const Dataset& dataset, std::span<const std::int64_t> items, std::uint32_t first_sample,
                 std::optional<std::int64_t> epoch) {
  BatchPtr batch;
  try {
    batch = epoch ? dataset.collate_in_epoch(*epoch, items, first_sample) : dataset.collate(items, first_sample);
  } catch (const Error&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::system_error&) {
    throw;
  } catch (const std::exception& error) {
    fail("[Dataset::collate] items {}: {}", text_of(items), error.what());
  }
  check(batch != nullptr, "[Dataset::collate] there is no batch for items {}: it returned null", text_of(items));
  return batch;
}

}  // namespace hearth
