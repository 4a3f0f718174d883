#pragma once

#include "hearth/cpu/parallel.h"
#include "tests/support.h"

namespace hearth::bench {

// A folder with the config.json of a BERT small enough for a test. One thread: the sizes are tiny, and threads would
// wait for each other on a busy machine.
class SmallModel : public TemporaryFolder {
 protected:
  SmallModel() {
    cpu::set_num_threads(1);
    write("config.json", R"({"model_type": "bert", "vocab_size": 50, "hidden_size": 32, "num_hidden_layers": 2,
        "num_attention_heads": 2, "intermediate_size": 64, "max_position_embeddings": 40})");
  }
  ~SmallModel() override { cpu::set_num_threads(0); }
};

}  // namespace hearth::bench
