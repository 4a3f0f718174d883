#include "hearth/report/step_curve.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "hearth/base/check.h"
#include "hearth/report/reporter.h"

namespace hearth::report {
namespace {

constexpr struct {
  const char* name;
  double CurvePoint::*value;
} kColumns[] = {{"seconds", &CurvePoint::seconds},
                {"loss", &CurvePoint::loss},
                {"learning_rate", &CurvePoint::learning_rate},
                {"grad_norm", &CurvePoint::grad_norm},
                {"tokens_per_second", &CurvePoint::tokens_per_second},
                {"limit_share", &CurvePoint::limit_share},
                {"memory_bytes", &CurvePoint::memory_bytes}};

constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();

// Enough for a picture, and a third of the bytes.
io::Json short_number(double value) {
  const io::Json json = finite_json(value);
  return json.is_null() ? json : io::Json(std::stod(fmt::format("{:.5g}", value)));
}

CurvePoint mean(const CurvePoint& a, const CurvePoint& b) {
  CurvePoint both = b;
  for (double CurvePoint::*value :
       {&CurvePoint::loss, &CurvePoint::grad_norm, &CurvePoint::tokens_per_second, &CurvePoint::limit_share})
    both.*value = (a.*value + b.*value) / 2;
  return both;
}

const io::Json& column(const io::Json& json, const char* name, std::size_t size, const std::string& file) {
  check(json.is_object() && json.contains(name) && json[name].is_array() && json[name].size() == size,
        "{}: \"curve\" must have an array \"{}\" of {} numbers", file, name, size);
  return json[name];
}

}  // namespace

void StepCurve::add(std::int64_t step, double seconds, const StepFacts& facts) {
  ++sums_.steps;
  sums_.loss += facts.loss;
  sums_.grad_norm += facts.grad_norm;
  if (sums_.steps < steps_per_point_) return;
  const auto steps = static_cast<double>(sums_.steps);
  const double passed = facts.seconds - before_.seconds;
  CurvePoint point{.step = step,
                   .seconds = seconds,
                   .loss = sums_.loss / steps,
                   .learning_rate = facts.learning_rate,
                   .grad_norm = sums_.grad_norm / steps};
  if (passed > 0) point.tokens_per_second = (facts.tokens - before_.tokens) / passed;
  if (passed > 0 && facts.matmul_rate > 0)
    point.limit_share = (facts.flops - before_.flops) / passed / facts.matmul_rate;
  for (const RankLoad& rank : facts.ranks) point.memory_bytes = std::max(point.memory_bytes, rank.memory_bytes);
  points_.push_back(point);
  sums_ = {};
  before_ = {facts.seconds, facts.tokens, facts.flops};
  if (points_.size() >= kMostPoints) halve();
}

void StepCurve::halve() {
  std::vector<CurvePoint> fewer;
  for (std::size_t i = 0; i + 1 < points_.size(); i += 2) fewer.push_back(mean(points_[i], points_[i + 1]));
  points_ = std::move(fewer);
  steps_per_point_ *= 2;
}

void StepCurve::resume_from(std::int64_t step) {
  std::erase_if(points_, [&](const CurvePoint& point) { return point.step > step; });
  sums_ = {};
  before_ = {};
}

io::Json StepCurve::to_json() const {
  io::Json json{{"steps_per_point", steps_per_point_}};
  io::Json& steps = json["step"] = io::Json::array();
  for (const CurvePoint& point : points_) steps.push_back(point.step);
  for (const auto& [name, value] : kColumns) {
    io::Json& numbers = json[name] = io::Json::array();
    for (const CurvePoint& point : points_) numbers.push_back(short_number(point.*value));
  }
  return json;
}

StepCurve StepCurve::from_json(const io::Json& json, const std::string& file) {
  check(json.is_object() && json.contains("step") && json["step"].is_array(),
        "{}: \"curve\" must be an object with an array \"step\"", file);
  constexpr std::int64_t kMostSteps = 1'000'000'000'000'000;
  StepCurve curve;
  curve.steps_per_point_ = io::get_int_within(json, "steps_per_point", 1, kMostSteps, file);
  const std::size_t size = json["step"].size();
  for (const io::Json& step : json["step"]) {
    check(step.is_number_integer(), "{}: \"step\" must be whole numbers, not {}", file, io::excerpt(step));
    curve.points_.push_back({.step = step.get<std::int64_t>()});
  }
  for (const auto& [name, value] : kColumns) {
    const io::Json& numbers = column(json, name, size, file);
    for (std::size_t i = 0; i < size; ++i)
      curve.points_[i].*value = numbers[i].is_number() ? numbers[i].get<double>() : kNotANumber;
  }
  return curve;
}

}  // namespace hearth::report
