#include "hearth/hub/client.h"

#include <chrono>
#include <optional>
#include <thread>

#include "hearth/base/check.h"
#include "hearth/base/whole_number.h"
#include "hearth/hub/settings.h"
#include "hearth/io/json.h"

namespace hearth::hub {
namespace {

using namespace std::chrono_literals;

constexpr int kMostTries = 4, kMostRedirects = 10;
constexpr auto kFirstWait = 500ms;

bool passes(int status) { return status == 429 || status >= 500; }

// Without the quotes and the W/ of a weak one.
std::string plain_etag(std::string_view text) {
  if (text.starts_with("W/")) text.remove_prefix(2);
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"') text = text.substr(1, text.size() - 2);
  return std::string(text);
}

// Where a redirect leads.
std::string next_url(const std::string& url, const HttpResponse& response) {
  std::string next = resolved_url(url, response.header("location"));
  check(!url.starts_with("https:") || next.starts_with("https:"),
        "{} redirects to {}, which is not encrypted: nothing was downloaded", url, next);
  return next;
}

// What the server says about its refusal, in a header or in the body.
std::string message_of(const HttpResponse& response) {
  if (const std::string text = response.header("x-error-message"); !text.empty()) return text;
  try {
    return io::get_string_or(io::parse_json(response.body, "answer"), "error", "", "answer");
  } catch (const Error&) {
    return "";
  }
}

}  // namespace

RefusedError::RefusedError(const std::string& sentence, std::string code, int status)
    : Error(sentence), code_(std::move(code)), status_(status) {}

Client::Client(std::string token) : token_(std::move(token)), endpoint_(hub::endpoint()) {}

HttpResponse Client::send_patiently(const HttpRequest& request) {
  auto wait = kFirstWait;
  for (int tries = 1;; ++tries, wait *= 2) {
    HttpResponse response = http_.send(request);
    if (!passes(response.status) || tries == kMostTries) return response;
    std::this_thread::sleep_for(wait);
  }
}

HttpResponse Client::send_once(HttpRequest request) {
  if (!token_.empty() && origin_of(request.url) == origin_of(endpoint_))
    request.headers.push_back("Authorization: Bearer " + token_);
  return send_patiently(request);
}

HttpResponse Client::send(HttpRequest request, const Subject& subject) {
  for (int redirects = 0; redirects <= kMostRedirects; ++redirects) {
    HttpResponse response = send_once(request);
    if (response.status >= 400) refuse(request, response, subject);
    if (!response.is_redirect()) return response;
    request.url = next_url(request.url, response);
  }
  fail("{} redirects in a circle", request.url);
}

void Client::refuse(const HttpRequest& request, const HttpResponse& response, const Subject& subject) const {
  const std::string code = response.header("x-error-code"), message = message_of(response);
  const std::string what = subject.repository.text(), page = endpoint_ + "/" + subject.repository.url_path();
  const auto refused = [&](const std::string& sentence) { throw RefusedError(sentence, code, response.status); };
  if (code == "GatedRepo")
    refused(
        has_token()
            ? fmt::format("{} is gated, and the account of this token is not let in: ask for access at {}", what, page)
            : fmt::format("{} is gated: ask for access at {}, then give your token with --token or HF_TOKEN, "
                          "or log in with `hf auth login`",
                          what, page));
  if (code == "RevisionNotFound")
    refused(fmt::format("{} has no revision {}: its page {} lists branches and tags", what, subject.revision, page));
  if (code == "EntryNotFound") refused(fmt::format("{} has no file {}", what, subject.file));
  if (message.find("Invalid credentials") != message.npos)
    refused(
        fmt::format("{} does not accept the token: make a new one, and give it with --token or HF_TOKEN, or log in "
                    "with `hf auth login`",
                    endpoint_));
  if (code == "RepoNotFound" || (response.status == 401 && !subject.repository.name.empty()))
    refused(fmt::format(
        "{} is not on {}, or it is private: check the name{}", what, endpoint_,
        has_token() ? " and the rights of your token" : "; for a private one give a token with --token or HF_TOKEN"));
  const std::string sentence = fmt::format("{} answers {} to {} {}{}{}", endpoint_, response.status, request.method,
                                           request.url, message.empty() ? "" : ": ", message);
  if (passes(response.status)) throw NetworkError(sentence + "; try again later");
  throw RefusedError(sentence, code, response.status);
}

io::Json Client::get_json(const std::string& path, const Subject& subject) {
  HttpRequest request;
  request.url = endpoint_ + path;
  return io::parse_json(send(std::move(request), subject).body, endpoint_ + path);
}

io::Json Client::post_json(const std::string& path, const std::string& body, const Subject& subject,
                           std::vector<std::string> headers) {
  HttpRequest request;
  request.method = "POST";
  request.url = endpoint_ + path;
  request.headers = std::move(headers);
  request.body = body;
  const HttpResponse response = send(std::move(request), subject);
  return response.body.empty() ? io::Json::object() : io::parse_json(response.body, endpoint_ + path);
}

Client::Contents Client::contents(const Repository& repository, std::string_view revision) {
  const std::string path = fmt::format("/api/{}/revision/{}", repository.api_path(), url_quoted(revision));
  const io::Json json = get_json(path, {repository, std::string(revision), ""});
  const std::string source = endpoint_ + path;
  Contents result;
  result.commit = io::get_string(json, "sha", source);
  check_revision(result.commit, repository);
  check(json.contains("siblings") && json["siblings"].is_array(), "{} does not list the files of {}", source,
        repository.text());
  for (const io::Json& sibling : json["siblings"]) {
    check(sibling.is_object(), "{} does not list the files of {}", source, repository.text());
    result.files.push_back(io::get_string(sibling, "rfilename", source));
    check_file_name(result.files.back(), repository);
  }
  return result;
}

// As huggingface_hub: redirects within the Hub are followed, because the repository may have another name today; the
// redirect to the storage of large files stays for get().
Client::FileFacts Client::facts(const Repository& repository, std::string_view revision, std::string_view file) {
  const Subject subject{repository, std::string(revision), std::string(file)};
  HttpRequest request;
  request.method = "HEAD";
  request.url =
      fmt::format("{}/{}/resolve/{}/{}", endpoint_, repository.url_path(), url_quoted(revision), url_quoted(file, "/"));
  request.headers = {"Accept-Encoding: identity"};
  for (int redirects = 0; redirects <= kMostRedirects; ++redirects) {
    const HttpResponse response = send_once(request);
    if (response.status >= 400) refuse(request, response, subject);
    const std::string next = response.is_redirect() ? next_url(request.url, response) : "";
    if (!next.empty() && origin_of(next) == origin_of(endpoint_)) {
      request.url = next;
      continue;
    }
    const auto first_of = [&](const char* linked, const char* own) {
      const std::string value = response.header(linked);
      return value.empty() ? response.header(own) : value;
    };
    const std::string size = first_of("x-linked-size", "content-length");
    const std::optional<std::int64_t> bytes = whole_number<std::int64_t>(size);
    FileFacts facts{response.header("x-repo-commit"), plain_etag(first_of("x-linked-etag", "etag")),
                    next.empty() ? request.url : next, bytes.value_or(0)};
    check(bytes && *bytes >= 0 && !facts.etag.empty() && !facts.commit.empty(),
          "{} does not tell size, checksum and commit of {}: is HF_ENDPOINT, or the proxy, a Hub?", endpoint_, file);
    return facts;
  }
  fail("{} redirects in a circle", request.url);
}

void Client::get(const FileFacts& file, std::int64_t offset, const Subject& subject,
                 const std::function<void(std::int64_t offset)>& begin,
                 const std::function<void(std::span<const std::byte>)>& take) {
  HttpRequest request;
  request.url = file.url;
  request.headers = {"Accept-Encoding: identity"};
  if (offset > 0) request.headers.push_back(fmt::format("Range: bytes={}-", offset));
  request.begin = [&](int status) { begin(status == 206 ? offset : 0); };
  request.take = take;
  send(std::move(request), subject);
}

}  // namespace hearth::hub
