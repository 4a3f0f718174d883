#include "hearth/apps/failure.h"

#include <filesystem>
#include <new>

#include "hearth/base/exit_status.h"
#include "hearth/base/usage_error.h"

namespace hearth::apps {

Failure current_failure() {
  try {
    throw;
  } catch (const UsageError& error) {
    return {error.what(), kUsageStatus};
  } catch (const std::filesystem::filesystem_error& error) {
    return {error.path1().string() + ": " + error.code().message(), kFailureStatus};
  } catch (const std::bad_alloc&) {
    return {"there is not enough memory; smaller batches, shorter sequences or a smaller model need less",
            kFailureStatus};
  } catch (const std::exception& error) {
    return {error.what(), kFailureStatus};
  }
}

}  // namespace hearth::apps
