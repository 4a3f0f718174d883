#pragma once

#include <filesystem>
#include <string>

#include "hearth/hub/repository.h"

// What flags and the environment say about the Hub, as huggingface_hub reads them.
namespace hearth::hub {

// What a command was told. Empty members: the environment decides.
struct Access {
  std::string cache_dir;
  std::string token;
  bool quiet = false;  // no progress bar
};

// --cache_dir, else TRANSFORMERS_CACHE (of models alone), HF_HUB_CACHE, HUGGINGFACE_HUB_CACHE or $HF_HOME/hub.
std::filesystem::path cache_root(const Access& access, Repository::Kind kind);
// The token given, else HF_TOKEN, HUGGING_FACE_HUB_TOKEN or the file that `hf auth login` writes; empty if there is
// none.
std::string token_of(const Access& access);
// HF_ENDPOINT or the public Hub, without a slash at the end.
std::string endpoint();
// HF_HUB_OFFLINE or TRANSFORMERS_OFFLINE; for data sets HF_DATASETS_OFFLINE goes first. offline_variable() is the name
// of the one that is set, empty if none is.
std::string offline_variable(Repository::Kind kind);

// The certificates that a server's own is checked against: a file or a folder, each may be empty.
struct Certificates {
  std::filesystem::path bundle, folder;
};
// REQUESTS_CA_BUNDLE, CURL_CA_BUNDLE, SSL_CERT_FILE and SSL_CERT_DIR, else the bundle of Debian, Fedora or Alpine.
Certificates certificates();

}  // namespace hearth::hub
