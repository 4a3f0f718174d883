#pragma once

#include <array>
#include <string>
#include <string_view>

namespace hearth::hub {

// A repository of the Hub: ORGANISATION/NAME, or NAME alone.
struct Repository {
  enum class Kind { model, dataset };

  Kind kind = Kind::model;
  std::string name;

  std::string text() const;         // "the model towns/tiny-bert", for errors
  std::string api_path() const;     // "models/towns/tiny-bert"
  std::string url_path() const;     // "towns/tiny-bert", "datasets/towns/names"
  std::string cache_entry() const;  // its folder in the cache: "models--towns--tiny-bert"
};
constexpr std::array<std::string_view, 2> names_of(Repository::Kind) { return {"model", "dataset"}; }

// Whether the text can be the name of a repository. A folder's name can be one too.
bool is_repository_name(std::string_view name);

// The present name of a repository from before the Hub's organisations: google-bert/bert-base-uncased for
// bert-base-uncased, rajpurkar/squad for squad. Other names stay as they are.
std::string present_name(const Repository& repository);

// Texts that become parts of paths in the cache. An Error if they could lead out of it.
void check_revision(std::string_view revision, const Repository& repository);  // a branch, a tag or a commit
void check_file_name(std::string_view file, const Repository& repository);     // as the server lists it

inline constexpr std::string_view kMainRevision = "main";

}  // namespace hearth::hub
