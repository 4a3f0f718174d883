#include "hearth/hub/settings.h"

#include <algorithm>
#include <cctype>

#include "hearth/base/check.h"
#include "hearth/base/environment.h"
#include "hearth/io/file.h"
#include "hearth/io/user_folders.h"

namespace hearth::hub {
namespace {

namespace fs = std::filesystem;

std::string without_space(std::string text) {
  std::erase_if(text, [](unsigned char c) { return std::isspace(c) != 0; });
  return text;
}

// As huggingface_hub: 1, on, yes and true in any case.
bool is_on(std::string value) {
  std::ranges::transform(value, value.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return value == "1" || value == "ON" || value == "YES" || value == "TRUE";
}

std::string token_file() {
  const std::string named = environment("HF_TOKEN_PATH");
  const fs::path file = named.empty() ? io::hugging_face_home() / "token" : fs::path(with_home(named));
  return fs::is_regular_file(file) ? io::read_file(file) : "";
}

}  // namespace

fs::path cache_root(const Access& access, Repository::Kind kind) {
  std::string folder = access.cache_dir;
  if (folder.empty() && kind == Repository::Kind::model) folder = environment("TRANSFORMERS_CACHE");
  for (const char* variable : {"HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"})
    if (folder.empty()) folder = environment(variable);
  if (!folder.empty()) return with_home(folder);
  return io::hugging_face_home() / "hub";
}

std::string token_of(const Access& access) {
  std::string token = access.token;
  for (const char* variable : {"HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"})
    if (token.empty()) token = environment(variable);
  if (token.empty()) token = token_file();
  token = without_space(std::move(token));
  // It becomes a header line, so that a control character in it could begin another one.
  const bool printable = std::ranges::all_of(token, [](unsigned char c) { return c > ' ' && c < 0x7f; });
  check(printable, "the token for the Hub has a character that no token has: copy it again");
  return token;
}

std::string endpoint() {
  std::string url = environment("HF_ENDPOINT");
  if (url.empty()) url = "https://huggingface.co";
  while (url.ends_with('/')) url.pop_back();
  return url;
}

std::string offline_variable(Repository::Kind kind) {
  if (kind == Repository::Kind::dataset)
    if (const std::string value = environment("HF_DATASETS_OFFLINE"); !value.empty())
      return is_on(value) ? "HF_DATASETS_OFFLINE" : "";
  for (const char* variable : {"HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"})
    if (const std::string value = environment(variable); !value.empty()) return is_on(value) ? variable : "";
  return "";
}

Certificates certificates() {
  for (const char* variable : {"REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE"})
    if (const std::string named = environment(variable); !named.empty()) {
      check(fs::exists(named), "{} is set to {}, which does not exist: name a file of certificates", variable, named);
      return fs::is_directory(named) ? Certificates{{}, named} : Certificates{named, {}};
    }
  if (const std::string folder = environment("SSL_CERT_DIR"); !folder.empty()) return {{}, folder};
  for (const char* bundle :
       {"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem"})
    if (fs::exists(bundle)) return {bundle, {}};
  return {};
}

}  // namespace hearth::hub
