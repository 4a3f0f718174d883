#include "hearth/hub/repository.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "hearth/base/check.h"
#include "hearth/base/split.h"

namespace hearth::hub {
namespace {

// Where the Hub has moved repositories that once had no organisation. A '*' at the end stands for any ending.
struct Move {
  Repository::Kind kind;
  std::string_view pattern, organisation;

  bool matches(const Repository& repository) const {
    if (repository.kind != kind) return false;
    if (!pattern.ends_with('*')) return repository.name == pattern;
    return repository.name.starts_with(pattern.substr(0, pattern.size() - 1));
  }
};

constexpr auto kModel = Repository::Kind::model, kDataset = Repository::Kind::dataset;
constexpr std::array kMoves{
    Move{kModel, "bert-base-*", "google-bert"},
    Move{kModel, "bert-large-*", "google-bert"},
    Move{kModel, "albert-base-v*", "albert"},
    Move{kModel, "albert-large-v*", "albert"},
    Move{kModel, "albert-xlarge-v*", "albert"},
    Move{kModel, "albert-xxlarge-v*", "albert"},
    Move{kModel, "distilbert-base-*", "distilbert"},
    Move{kModel, "distilroberta-base", "distilbert"},
    Move{kModel, "roberta-base", "FacebookAI"},
    Move{kModel, "roberta-large", "FacebookAI"},
    Move{kModel, "roberta-large-mnli", "FacebookAI"},
    Move{kModel, "xlm-roberta-base", "FacebookAI"},
    Move{kModel, "xlm-roberta-large", "FacebookAI"},
    Move{kModel, "xlm-roberta-large-finetuned-*", "FacebookAI"},
    Move{kDataset, "squad", "rajpurkar"},
    Move{kDataset, "squad_v2", "rajpurkar"},
    Move{kDataset, "glue", "nyu-mll"},
    Move{kDataset, "multi_nli", "nyu-mll"},
    Move{kDataset, "super_glue", "aps"},
    Move{kDataset, "conll2003", "eriktks"},
    Move{kDataset, "wnut_17", "leondz"},
    Move{kDataset, "imdb", "stanfordnlp"},
    Move{kDataset, "snli", "stanfordnlp"},
    Move{kDataset, "sst2", "stanfordnlp"},
    Move{kDataset, "xnli", "facebook"},
    Move{kDataset, "ag_news", "fancyzhx"},
    Move{kDataset, "emotion", "dair-ai"},
    Move{kDataset, "tweet_eval", "cardiffnlp"},
    Move{kDataset, "rotten_tomatoes", "cornell-movie-review-data"},
    Move{kDataset, "yelp_review_full", "Yelp"},
    Move{kDataset, "wikitext", "Salesforce"},
};

bool is_name_part(std::string_view part) {
  constexpr auto allowed = [](unsigned char c) { return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.'; };
  return !part.empty() && part.size() <= 96 && std::ranges::all_of(part, allowed) && !part.starts_with('.') &&
         !part.starts_with('-') && !part.ends_with('.') && !part.ends_with('-') && part.find("..") == part.npos;
}

bool stays_inside(std::string_view path) {
  if (path.empty() || path.find('\0') != path.npos || path.find('\\') != path.npos) return false;
  return std::ranges::none_of(split(path, '/'),
                              [](const auto& part) { return part.empty() || part == "." || part == ".."; });
}

}  // namespace

std::string Repository::text() const {
  return fmt::format("the {} {}", kind == Kind::model ? "model" : "data set", name);
}

std::string Repository::api_path() const { return (kind == Kind::model ? "models/" : "datasets/") + name; }

std::string Repository::url_path() const { return kind == Kind::model ? name : api_path(); }

std::string Repository::cache_entry() const {
  std::string entry = api_path();
  for (std::size_t slash; (slash = entry.find('/')) != entry.npos;) entry.replace(slash, 1, "--");
  return entry;
}

bool is_repository_name(std::string_view name) {
  const std::size_t slash = name.find('/');
  if (slash == name.npos) return is_name_part(name);
  return is_name_part(name.substr(0, slash)) && is_name_part(name.substr(slash + 1));
}

std::string present_name(const Repository& repository) {
  const auto found = std::ranges::find_if(kMoves, [&](const Move& move) { return move.matches(repository); });
  return found == kMoves.end() ? repository.name : fmt::format("{}/{}", found->organisation, repository.name);
}

void check_revision(std::string_view revision, const Repository& repository) {
  check(stays_inside(revision), "'{}' is not a revision of {}: give a branch, a tag or a commit, such as main",
        revision, repository.name);
}

void check_file_name(std::string_view file, const Repository& repository) {
  check(stays_inside(file), "{} lists the file '{}', which would lie outside the cache folder: it is not downloaded",
        repository.text(), file);
}

}  // namespace hearth::hub
