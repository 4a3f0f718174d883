#include "hearth/autograd/tape.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "hearth/base/error.h"
#include "hearth/cpu/memory.h"
#include "tests/support.h"

namespace hearth {
namespace {

Tensor number(float value) {
  Tensor tensor(Shape{}, DType::f32);
  *tensor.data<float>() = value;
  return tensor;
}

void add_grad(const Var& x, float dx) {
  if (!x.grad().defined()) x.grad() = number(0);
  *x.grad().data<float>() += dx;
}

// y = factor * x, noting in `trace` when it is differentiated.
Var times(Tape& tape, const Var& x, float factor, std::vector<std::string>* trace = nullptr, std::string name = {}) {
  return tape.record(number(factor * x.value().item()), [=](Tensor dy) {
    if (trace != nullptr) trace->push_back(name);
    add_grad(x, factor * dy.item());
  });
}

TEST(Tape, WalksFromTheLastToTheFirst) {
  std::vector<std::string> trace;
  Tape tape;
  const Var x(number(3), true);
  const Var a = times(tape, x, 2, &trace, "a");
  const Var b = times(tape, a, 5, &trace, "b");
  const Var c = times(tape, b, -1, &trace, "c");
  EXPECT_EQ(c.value().item(), -30);
  tape.backward(c, 0.5f);
  EXPECT_EQ(trace, (std::vector<std::string>{"c", "b", "a"}));
  EXPECT_EQ(x.grad().item(), -5);
}

TEST(Tape, AddsUpTheUsesOfAValue) {
  Tape tape;
  const Var x(number(3), true);
  const Var a = times(tape, x, 2);
  const Var b = times(tape, a, 5);
  const Var c = tape.record(number(b.value().item() + a.value().item()), [=](Tensor dy) {
    add_grad(b, dy.item());
    add_grad(a, dy.item());
  });
  tape.backward(c, 1);
  EXPECT_EQ(x.grad().item(), 12);
}

TEST(Tape, PassesOverWhatTheLossDoesNotNeed) {
  std::vector<std::string> trace;
  Tape tape;
  const Var x(number(3), true);
  const Var unused = times(tape, x, 7, &trace, "unused");
  const Var used = times(tape, x, 2, &trace, "used");
  tape.backward(used, 1);
  EXPECT_EQ(trace, std::vector<std::string>{"used"});
  EXPECT_EQ(x.grad().item(), 2);
}

TEST(Tape, StartsFromAnyValueWhoseGradientIsKnown) {
  Tape tape;
  const Var x(number(3), true);
  const Var a = times(tape, x, 2);
  tape.backward_from(a, number(10));
  EXPECT_EQ(x.grad().item(), 20);
}

TEST(Tape, WantsOneNumberAsALoss) {
  Tape tape;
  const Var x(Tensor::zeros({2}, DType::f32));
  EXPECT_EQ(error_of([&] { tape.backward(x, 1); }), "[backward] the loss must be one number, its shape is (2)");
  const Var recorded = tape.record(Tensor::zeros({2, 1}, DType::f32), [](const Tensor&) {});
  EXPECT_EQ(error_of([&] { recorded.backward(); }), "[backward] the loss must be one number, its shape is (2, 1)");
  EXPECT_TRUE(contains(error_of([&] { Var().backward(); }), "[Var] read before it has a value"));
}

TEST(Tape, IsKnownToItsValues) {
  const Var x(number(3), true);
  Tape tape;
  const Var y = times(tape, x, 2);
  EXPECT_EQ(x.tape(), nullptr);
  EXPECT_EQ(y.tape(), &tape);
  y.backward(5);
  EXPECT_EQ(x.grad().item(), 10);
  EXPECT_EQ(y.tape(), nullptr);
  const Var again = times(tape, x, 3);
  EXPECT_EQ(again.tape(), &tape);
}

TEST(Tape, RunsBackwardOnce) {
  const Var x(number(3), true);
  Tape tape;
  const Var a = times(tape, x, 2), b = times(tape, x, 3);
  tape.backward(a, 1);
  for (const Var& loss : {a, b}) {
    EXPECT_TRUE(contains(error_of([&] { tape.backward(loss, 1); }), "backward ran already")) << "through the tape";
    EXPECT_TRUE(contains(error_of([&] { loss.backward(); }), "backward ran already")) << "through the value";
  }
  EXPECT_EQ(x.grad().item(), 2);
}

TEST(Tape, RunsBackwardOfItsOwnValuesOnly) {
  const Var x(number(3), true);
  Tape tape, other;
  const Var y = times(other, x, 2);
  EXPECT_TRUE(contains(error_of([&] { tape.backward(y, 1); }), "another tape recorded the loss"));
  EXPECT_TRUE(contains(error_of([&] { tape.backward(x, 1); }), "no tape recorded this value"));
  EXPECT_TRUE(contains(error_of([&] { x.backward(); }), "no tape recorded this value"));
  EXPECT_FALSE(x.grad().defined());
}

TEST(Tape, MayBeGoneBeforeItsValues) {
  const Var x(number(3), true);
  Var y;
  {
    Tape tape;
    y = times(tape, x, 2);
  }
  EXPECT_EQ(y.tape(), nullptr);
  EXPECT_EQ(y.value().item(), 6);
  EXPECT_TRUE(contains(error_of([&] { y.backward(); }), "the tape that recorded this value is gone"));
}

// A pass whose backward fails is over; the next one does not see what is left of it.
TEST(Tape, IsGoodForAnotherPassAfterAFailure) {
  const Var x(number(3), true);
  Tape tape;
  const Var a = times(tape, x, 2);
  const Var bad = tape.record(number(1), [a](const Tensor&) {
    add_grad(a, 7);
    throw Error("it fails");
  });
  EXPECT_EQ(error_of([&] { bad.backward(); }), "it fails");
  const Var b = times(tape, x, 5);
  b.backward();
  EXPECT_EQ(x.grad().item(), 5);
}

TEST(Tape, WantsGradientsOfTheValuesShape) {
  Tape tape;
  const Var y = times(tape, Var(number(3), true), 2);
  EXPECT_EQ(error_of([&] { tape.backward_from(y, Tensor::zeros({2}, DType::f32)); }),
            "[backward_from] a gradient fp32 (2) of a value fp32 ()");
}

// An op's backward keeps what it captures; the tape itself keeps the gradient's place alone.
TEST(Tape, KeepsNoValues) {
  Tape tape;
  const Tensor value = number(1);
  Var y = tape.record(value, [](const Tensor&) {});
  const GradientEdge edge = y.edge();
  y = Var();
  EXPECT_TRUE(value.is_only_view());
  EXPECT_EQ(edge.shape(), value.shape());
  EXPECT_EQ(edge.type(), DType::f32);
}

TEST(Var, KnowsWhetherAnotherHoldsItsValue) {
  Tape tape;
  Var y = tape.record(number(1), [](const Tensor&) {});
  EXPECT_TRUE(y.is_last_holder());
  Var copy = y;
  EXPECT_FALSE(y.is_last_holder());
  copy = Var();
  EXPECT_TRUE(y.is_last_holder());
  Tensor view = y.value();
  EXPECT_FALSE(y.is_last_holder());
  view = Tensor();
  EXPECT_TRUE(y.is_last_holder());
  EXPECT_TRUE(Var(number(1)).is_last_holder());
}

class Ready : public testing::Test {
 protected:
  Ready() {
    for (const char* name : {"p", "q", "r"}) parameters_.push_back(&store_.add({{name, {1}, 0}}));
    store_.allocate();
  }
  GradReady note() {
    return [this](Parameter& parameter) { trace_.push_back("ready " + parameter.parts.front().name); };
  }
  Parameter& parameter(std::size_t index) { return *parameters_[index]; }

  ParameterStore store_;
  std::vector<Parameter*> parameters_;
  std::vector<std::string> trace_;
};

TEST_F(Ready, ComesOnceAndAfterTheFirstUse) {
  Tape tape;
  const Var x(number(1), true);
  tape.use(parameter(0));
  const Var a = times(tape, x, 2, &trace_, "a");
  tape.use(parameter(1));
  const Var b = times(tape, a, 2, &trace_, "b");
  tape.use(parameter(0));  // again
  tape.use(parameter(2));
  const Var c = times(tape, b, 2, &trace_, "c");
  tape.backward(c, 1, note());
  EXPECT_EQ(trace_, (std::vector<std::string>{"c", "ready r", "b", "ready q", "a", "ready p"}));
}

TEST_F(Ready, AParameterOfAnotherModelIsNamed) {
  ParameterStore other;
  other.add({{"q", {1}, 0}});
  other.allocate();
  Tape tape;
  tape.use(parameter(1));
  tape.check_belongs(store_);
  EXPECT_TRUE(contains(error_of([&] { tape.check_belongs(other); }), "the loss depends on q, a parameter of another"));
}

TEST_F(Ready, ComesForParametersWhoseResultIsNotNeeded) {
  Tape tape;
  const Var x(number(1), true);
  tape.use(parameter(0));
  const Var used = times(tape, x, 2, &trace_, "used");
  tape.use(parameter(1));
  const Var unused = times(tape, x, 2, &trace_, "unused");
  tape.backward(used, 1, note());
  EXPECT_EQ(trace_, (std::vector<std::string>{"ready q", "used", "ready p"}));
}

TEST_F(Ready, MayBeLeftOut) {
  Tape tape;
  const Var x(number(1), true);
  tape.use(parameter(0));
  const Var y = times(tape, x, 2);
  tape.backward(y, 1);
  EXPECT_EQ(x.grad().item(), 2);
}

TEST_F(Ready, ATapeIsGoodForAnotherPass) {
  Tape tape;
  for (int pass = 0; pass < 2; ++pass) {
    const Var x(number(1), true);
    tape.use(parameter(0));
    const Var y = times(tape, x, 2);
    tape.backward(y, 1, note());
  }
  EXPECT_EQ(trace_, (std::vector<std::string>{"ready p", "ready p"}));
}

TEST_F(Ready, APauseNotesUsesButKeepsNoValues) {
  Tape tape;
  const Var x(number(1), true);
  const Var a = times(tape, x, 2, &trace_, "a");
  {
    const Tape::Pause pause(&tape);
    tape.use(parameter(0));
    const Var lost = times(tape, a, 3, &trace_, "lost");
    EXPECT_FALSE(lost.needs_grad());
    EXPECT_EQ(lost.value().item(), 6);
    { const Tape::Pause inner(&tape); }
    EXPECT_FALSE(times(tape, a, 3).needs_grad());  // still paused
  }
  const Var b = times(tape, a, 4, &trace_, "b");
  EXPECT_TRUE(b.needs_grad());
  tape.backward(b, 1, note());
  EXPECT_EQ(trace_, (std::vector<std::string>{"b", "ready p", "a"}));
}

TEST(Pause, OfNoTapePausesNoOther) {
  Tape tape;
  const Var x(number(1), true);
  const Tape::Pause none(nullptr);
  const Var y = times(tape, x, 3);
  EXPECT_TRUE(y.needs_grad());
  tape.backward(y, 1);
  EXPECT_EQ(x.grad().item(), 3);
}

TEST(Tape, FreesActivationsAsItGoes) {
  constexpr std::int64_t kElements = 1 << 20;
  constexpr std::size_t kBytes = kElements * sizeof(float);
  const std::size_t before = cpu::pool_stats().in_use_bytes;
  Tape tape;
  std::vector<std::size_t> in_use;
  Var x(number(1), true);
  for (int i = 0; i < 4; ++i) {
    const Tensor activation = Tensor::zeros({kElements}, DType::f32);
    x = tape.record(number(1), [x, activation, &in_use](Tensor dy) {
      in_use.push_back(cpu::pool_stats().in_use_bytes);
      add_grad(x, dy.item());
    });
  }
  EXPECT_GE(cpu::pool_stats().in_use_bytes, before + 4 * kBytes);
  const Var loss = x;
  x = Var();
  tape.backward(loss, 1);
  ASSERT_EQ(in_use.size(), 4u);
  for (std::size_t i = 1; i < 4; ++i) EXPECT_LE(in_use[i] + kBytes, in_use[i - 1] + 4096);
  EXPECT_LE(cpu::pool_stats().in_use_bytes, before + 4096);
}

TEST(Tape, KnowsWhichRowsOfATableAreUsed) {
  ParameterStore store;
  Parameter& table = store.add({{"table", {6, 2}, 0}});
  store.allocate();
  Tape tape;
  tape.use(table, std::vector<std::int32_t>{4, 1});
  tape.use(table, std::vector<std::int32_t>{1, 5});
  EXPECT_EQ(tape.used_rows(table).list(), (std::vector<std::int32_t>{1, 4, 5}));
  tape.use(table);
  EXPECT_TRUE(tape.used_rows(table).is_all());
  tape.use(table, std::vector<std::int32_t>{1});
  EXPECT_TRUE(tape.used_rows(table).is_all());
  int ready = 0;
  const Var loss = times(tape, Var(number(1), true), 1);
  tape.backward(loss, 1, [&](Parameter& parameter) { ready += &parameter == &table; });
  EXPECT_EQ(ready, 1);
}

TEST(Tape, KeepsWhatItsOperationsReferTo) {
  auto object = std::make_shared<const int>(3);
  const std::weak_ptr<const int> seen = object;
  {
    Tape tape;
    tape.keep(std::move(object));
    EXPECT_FALSE(seen.expired());
  }
  EXPECT_TRUE(seen.expired());
}

// The first thread's backward waits in the middle until the second one has tried.
TEST(Tape, OneThreadAtATimeComputesAGradient) {
  ParameterStore store;
  Parameter& parameter = store.add({{"w", Shape({4})}});
  store.allocate();
  const auto backward = [&](const std::function<void()>& in_the_middle) {
    Tape tape;
    tape.use(parameter);
    const Var loss = tape.record(number(1), [&](const Tensor&) { in_the_middle(); });
    tape.backward(loss, 1);
  };
  std::string second;
  backward([&] {
    std::thread([&] {
      try {
        backward([] {});
      } catch (const Error& error) {
        second = error.what();
      }
    }).join();
    backward([] {});  // an inner pass of the same thread
  });
  EXPECT_NE(second.find("another thread computes the gradient of w"), std::string::npos) << second;
  EXPECT_NO_THROW(backward([] {}));
}

}  // namespace
}  // namespace hearth
