#include "hearth/tokenizer/auto_tokenizer.h"

#include "hearth/io/hub_cache.h"

namespace hearth {

std::shared_ptr<const tokenizer::Tokenizer> AutoTokenizer::from_pretrained(const std::string& name) {
  return tokenizer::load_tokenizer(io::find_model(name, "", "main"));
}

}  // namespace hearth
