#include "hearth/tokenizer/auto_tokenizer.h"

#include "hearth/hub/model.h"

namespace hearth {

std::shared_ptr<const tokenizer::Tokenizer> AutoTokenizer::from_pretrained(const std::string& name) {
  return tokenizer::load_tokenizer(hub::find_model(name, hub::ModelParts::tokenizer));
}

}  // namespace hearth
