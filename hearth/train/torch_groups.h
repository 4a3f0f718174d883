#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "hearth/autograd/parameter.h"

namespace hearth {

// optimizer.pt has no names: it numbers the parameters of the Trainer's two groups, those with weight decay and those
// without, each in the order of PyTorch's named_parameters(). These are the groups, with names and shapes.
using TorchGroups = std::array<std::vector<Parameter::Part>, 2>;

// Versions of transformers create the modules of some models in other orders.
enum class TorchOrder {
  version_4,
  roberta_5,      // of transformers 5: the table of positions comes after the layer norm of the embeddings
  xlm_roberta_5,  // the same, and the head comes before the encoder; a head that is tied to the words has them
};
inline constexpr std::array kTorchOrders{TorchOrder::version_4, TorchOrder::roberta_5, TorchOrder::xlm_roberta_5};

// The order in which transformers 5 has the parameters of an architecture, such as "BertForQuestionAnswering".
TorchOrder order_of_version_5(std::string_view architecture);

TorchGroups torch_groups(const ParameterStore& parameters, TorchOrder order = TorchOrder::version_4);

}  // namespace hearth
