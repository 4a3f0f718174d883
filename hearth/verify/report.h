#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace hearth::verify {

// Counts the outcomes of checks and passes each on as one line of text.
class Report {
 public:
  using Sink = std::function<void(bool passed, std::string_view line)>;
  explicit Report(Sink sink) : sink_(std::move(sink)) {}

  // Passes where error <= tolerance; a NaN fails.
  void check(std::string_view what, double error, double tolerance);
  // An exact comparison; `detail` says what differs.
  void check_exact(std::string_view what, bool equal, std::string_view detail = {});
  // A part of the set that this build cannot compare; neither passed nor failed.
  void unknown(std::string_view what, std::string_view why);
  // A part whose check could not be made.
  void failed(std::string_view what, std::string_view why);

  int made() const { return made_; }
  int failures() const { return failures_; }
  int unknowns() const { return unknowns_; }
  bool passed() const { return failures_ == 0 && made_ > 0; }

 private:
  void line(bool ok, std::string_view what, std::string_view measured);

  Sink sink_;
  int made_ = 0, failures_ = 0, unknowns_ = 0;
};

}  // namespace hearth::verify
