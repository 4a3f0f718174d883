// The format is the one named: a number that a format cannot hold does not pass through it, and errors against fp32
// are neither too large nor too small for it, at every level of instruction sets that this machine has.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <map>
#include <memory>

#include "hearth/cpu/isa.h"
#include "hearth/cpu/parallel.h"
#include "hearth/io/safetensors.h"
#include "hearth/models/pretrained.h"
#include "tests/apps/program.h"

namespace hearth {
namespace {

std::vector<std::string> caps() {
  std::vector<std::string> names;
  for (const cpu::Isa isa : cpu::all_isas())
    if (cpu::highest_isa(cpu::features(), isa) == isa) names.emplace_back(cpu::name_of(isa));
  return names;
}

class Formats : public ProgramTest {
 protected:
  // The start model with some weights set, in a folder of its own.
  void make_model(const std::string& name, const std::map<std::string, float>& first_elements) const {
    fs::copy(start_model(), folder() / name);
    const io::Safetensors stored = io::Safetensors::open(start_model() / "model.safetensors");
    std::vector<std::pair<std::string, Tensor>> tensors;
    for (const std::string& tensor : stored.names()) {
      tensors.emplace_back(tensor, stored.tensor(tensor).clone());
      if (const auto found = first_elements.find(tensor); found != first_elements.end())
        *tensors.back().second.data<float>() = found->second;
    }
    io::write_safetensors(folder() / name / "model.safetensors", tensors, {{"format", "pt"}});
  }

  Outcome train(const std::string& model, const std::string& format, const std::string& cap,
                const std::string& flags = "") const {
    const Outcome outcome = run_qa(
        "--do_train --do_eval --save_strategy no --overwrite_output_dir --output_dir out"
        " --config_overrides hidden_dropout_prob=0,attention_probs_dropout_prob=0"
        " --model_name_or_path " +
        model + " --max_isa " + cap + (format == "fp32" ? "" : " --" + format) + " " + flags);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return outcome;
  }

  // All that a model computes, to the bit: the gradient's norm of a step and the logits of the best answers.
  std::string computed(const std::string& model, const std::string& format, const std::string& cap) const {
    train(model, format, cap, "--max_steps 1 --learning_rate 0");
    return io::dump_json(json("out/trainer_state.json").at("log_history")[0], io::kOneLine) +
           text("out/eval_nbest_predictions.json");
  }
};

// bf16 has 8 bits for a number's digits, fp16 has 11.
TEST_F(Formats, AWeightOfOneAndALittleIsOneInBf16Alone) {
  const std::string layer = "bert.encoder.layer.0.";
  const float little = 1 + 0x1p-9f;
  std::map<std::string, float> one{{"qa_outputs.weight", 1.0f}}, inner, head;
  for (const char* weight : {"attention.self.query.weight", "attention.self.key.weight", "attention.self.value.weight",
                             "attention.output.dense.weight", "intermediate.dense.weight", "output.dense.weight"})
    one[layer + weight] = 1;
  inner = head = one;
  for (auto& [name, value] : inner) value = name == "qa_outputs.weight" ? 1 : little;
  head["qa_outputs.weight"] = little;
  make_model("one", one);
  make_model("inner", inner);
  make_model("head", head);
  for (const std::string& cap : caps())
    for (const char* format : {"fp32", "bf16", "fp16"}) {
      const std::string expected = computed("one", format, cap);
      for (const char* changed : {"inner", "head"})
        EXPECT_EQ(computed(changed, format, cap) == expected, std::string(format) == "bf16")
            << changed << " " << format << " at " << cap;
    }
}

TEST_F(Formats, AnActivationOfSeventyThousandOverflowsInFp16Alone) {
  const std::string bias = "bert.encoder.layer.1.output.dense.bias";
  make_model("large", {{bias, 70000.0f}});
  make_model("fits", {{bias, 60000.0f}});
  const auto finite = [&] {
    const io::Json answers = json("out/eval_nbest_predictions.json").at("q0");
    return std::isfinite(answers[0].at("start_logit").get<double>());
  };
  for (const std::string& cap : caps()) {
    const Outcome outcome = train("large", "fp16", cap, "--max_steps 3");
    EXPECT_EQ(json("out/train_results.json").at("train_skipped_steps"), 3) << cap;
    int warnings = 0;
    for (const std::string& line : lines_of(outcome.err))
      warnings += line.starts_with("warning: step ") && contains(line, "skipped: fp16 overflowed");
    EXPECT_EQ(warnings, 3) << outcome.err;
    EXPECT_TRUE(same("large/model.safetensors", "out/model.safetensors")) << cap;
    EXPECT_FALSE(finite()) << cap;
    train("fits", "fp16", cap, "--max_steps 1 --learning_rate 0");
    EXPECT_TRUE(finite()) << cap;
    for (const char* format : {"fp32", "bf16"}) {
      train("large", format, cap, "--max_steps 1");
      EXPECT_TRUE(finite()) << format << " at " << cap;
      EXPECT_FALSE(same("large/model.safetensors", "out/model.safetensors"));
      EXPECT_FALSE(json("out/train_results.json").contains("train_skipped_steps"));
    }
  }
}

TEST_F(Formats, AnEmulatedFormatIsAnnounced) {
  make_model("model", {});
  for (const char* format : {"fp32", "bf16", "fp16"}) {
    const Outcome outcome = train("model", format, "avx2", "--max_steps 1");
    int warnings = 0;
    for (const std::string& line : lines_of(outcome.err)) warnings += contains(line, "is emulated at the avx2 level");
    EXPECT_EQ(warnings, std::string(format) == "fp32" ? 0 : 1) << outcome.err;
  }
}

std::unique_ptr<models::Pretrained> make_bert() {
  const io::Json config{{"model_type", "bert"},
                        {"vocab_size", 120},
                        {"hidden_size", 64},
                        {"num_hidden_layers", 2},
                        {"num_attention_heads", 4},
                        {"intermediate_size", 128},
                        {"max_position_embeddings", 64},
                        {"initializer_range", 0.1},
                        {"hidden_dropout_prob", 0.0},
                        {"attention_probs_dropout_prob", 0.0}};
  return models::build_model(models::Config(config, "config.json"), models::HeadKind::question_answering, 7);
}

Batch make_batch() {
  Batch batch;
  for (std::uint32_t sample = 0; sample < 12; ++sample) {
    std::vector<std::int32_t> ids, types;
    for (std::uint32_t at = 0; at < 20 + 3 * sample; ++at) {
      ids.push_back(static_cast<std::int32_t>(1 + (sample * 31 + at * at * 7 + at) % 119));
      types.push_back(at > 6 ? 1 : 0);
    }
    batch.append(ids, types, sample);
    batch.labels["start_positions"].push_back(8 + sample);
    batch.labels["end_positions"].push_back(10 + sample);
  }
  return batch;
}

struct Computed {
  std::vector<double> logits, gradients;
};

Computed compute(DType format) {
  cpu::set_num_threads(1);
  const auto model = make_bert();
  const Batch batch = make_batch();
  constexpr float kScale = 1024;  // of the loss, so that fp16 holds small gradients
  Tape tape;
  ops::Context ctx;
  ctx.tape = &tape;
  ctx.compute = format;
  const nn::ModelOutput output = model->forward(ctx, shared_batch(batch));
  Computed result;
  for (const auto& [name, logits] : output.logits)
    for (std::int64_t i = 0; i < logits.value().size(); ++i) result.logits.push_back(logits.value().data<float>()[i]);
  tape.backward(output.loss, kScale);
  model->parameters().complete_grads();
  for (const auto& parameter : model->parameters().parameters())
    for (std::int64_t i = 0; i < parameter->grad.size(); ++i)
      result.gradients.push_back(double{parameter->grad.data<float>()[i]} / kScale);
  return result;
}

double relative_error(const std::vector<double>& values, const std::vector<double>& reference) {
  double error = 0, size = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    error += (values[i] - reference[i]) * (values[i] - reference[i]);
    size += reference[i] * reference[i];
  }
  return std::sqrt(error / size);
}

struct Band {
  DType format;
  double logits_low, logits_high, gradients_low, gradients_high;
};

// A bit more or less in the format, or rounding that cuts off, doubles or halves an error.
constexpr Band kBands[] = {{DType::bf16, 3.5e-3, 8.5e-3, 4.5e-3, 1.1e-2}, {DType::f16, 4e-4, 1e-3, 5.5e-4, 1.4e-3}};

TEST(FormatBands, HoldTheErrorsAgainstFp32) {
  const Computed reference = compute(DType::f32);
  for (const Band& band : kBands) {
    const Computed rounded = compute(band.format);
    const double logits = relative_error(rounded.logits, reference.logits);
    const double gradients = relative_error(rounded.gradients, reference.gradients);
    std::printf("%s at %s: relative error of logits %.2e, of gradients %.2e\n",
                std::string(name_of(band.format)).c_str(), std::string(cpu::name_of(cpu::isa())).c_str(), logits,
                gradients);
    EXPECT_GE(logits, band.logits_low);
    EXPECT_LE(logits, band.logits_high);
    EXPECT_GE(gradients, band.gradients_low);
    EXPECT_LE(gradients, band.gradients_high);
  }
}

// The cap is a matter of the whole process: this program runs the test above again under each.
TEST(FormatBands, HoldAtEveryCap) {
  const std::string program = fs::read_symlink("/proc/self/exe").string();
  for (const std::string& cap : caps()) {
    const TemporaryPlace place;
    const std::string log = (place.path() / "log").string();
    const std::string command = "HEARTH_MAX_ISA=" + cap + " OMP_NUM_THREADS=1 " + program +
                                " --gtest_filter=FormatBands.HoldTheErrorsAgainstFp32 > " + log + " 2>&1";
    EXPECT_EQ(std::system(command.c_str()), 0) << cap << io::read_file(log);
    EXPECT_TRUE(contains(io::read_file(log), " at " + cap + ": ")) << io::read_file(log);
  }
}

}  // namespace
}  // namespace hearth
