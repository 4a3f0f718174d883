#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hearth/base/error.h"

namespace hearth::hub {

// The server could not be reached, or a transfer was cut: the same request may work later. An untrusted certificate is
// another Error.
class NetworkError : public Error {
 public:
  using Error::Error;
};

// A range of a file, sent as a request's body.
struct FilePart {
  std::filesystem::path file;
  std::int64_t offset = 0, size = 0;
};

struct HttpRequest {
  std::string method = "GET", url;   // GET, HEAD, POST; PUT with `file`
  std::vector<std::string> headers;  // "Name: value"
  std::string body;
  std::optional<FilePart> file;  // instead of the body
  // Gets the bytes of an answer with status 200 or 206, after `begin` was called with the status. Other answers are
  // kept in HttpResponse::body.
  std::function<void(int status)> begin;
  std::function<void(std::span<const std::byte>)> take;
  std::function<void(std::int64_t bytes)> sent;  // progress of an upload
};

struct HttpResponse {
  int status = 0;
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;

  std::string header(const std::string& name) const;  // empty if there is none
  bool is_redirect() const { return status >= 300 && status < 400 && headers.contains("location"); }
};

// Requests over HTTP and verified TLS, one at a time. Redirects are the caller's. An exception of `take` ends the
// transfer and reaches the caller.
class HttpClient {
 public:
  HttpClient();
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  HttpResponse send(const HttpRequest& request);

 private:
  struct Handle;
  std::unique_ptr<Handle> handle_;
};

// "https://host:443" of a URL, with the default port filled in: requests of one origin may carry the same token.
std::string origin_of(const std::string& url);
// `location` as a browser would understand it on the page `base`.
std::string resolved_url(const std::string& base, const std::string& location);
// Everything but letters, digits, '-', '.', '_', '~' and the characters of `kept` as %XX.
std::string url_quoted(std::string_view text, std::string_view kept = "");

}  // namespace hearth::hub
