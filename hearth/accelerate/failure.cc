#include "hearth/accelerate/failure.h"

#include <filesystem>
#include <new>
#include <system_error>

#include "hearth/base/check.h"
#include "hearth/base/exit_status.h"
#include "hearth/base/not_finite_error.h"
#include "hearth/base/usage_error.h"
#include "hearth/cpu/thread_limits.h"

namespace hearth {
namespace {

template <class Kind>
bool is(const std::exception& error) {
  return dynamic_cast<const Kind*>(&error) != nullptr;
}

// std::thread throws this where the system refuses a thread.
bool is_refused_thread(const std::exception& error) {
  const auto* const failure = dynamic_cast<const std::system_error*>(&error);
  return failure != nullptr && failure->code() == std::errc::resource_unavailable_try_again;
}

}  // namespace

std::string sentence_of(const std::exception& error) {
  if (is_refused_thread(error)) return fmt::format("the system refused to start a thread: {}", cpu::thread_limits());
  if (const auto* const failure = dynamic_cast<const std::filesystem::filesystem_error*>(&error))
    return failure->path1().string() + ": " + failure->code().message();
  if (is<std::bad_alloc>(error))
    return "there is not enough memory; smaller batches, shorter sequences or a smaller model need less";
  return error.what();
}

int status_of(const std::exception& error) {
  if (is<UsageError>(error)) return kUsageStatus;
  return is<NotFiniteError>(error) ? kNotFiniteStatus : kFailureStatus;
}

bool is_resource_failure(const std::exception& error) {
  return is<ResourceError>(error) || is<std::bad_alloc>(error) || is_refused_thread(error);
}

}  // namespace hearth
