#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "hearth/hub/http.h"
#include "hearth/hub/repository.h"
#include "hearth/io/json_fwd.h"

namespace hearth::hub {

// The Hub's answer to a request that it does not grant.
class RefusedError : public Error {
 public:
  RefusedError(const std::string& sentence, std::string code, int status);

  const std::string& code() const { return code_; }  // the Hub's X-Error-Code: "RevisionNotFound", ...
  int status() const { return status_; }

 private:
  std::string code_;
  int status_;
};

// What a request is about, for the sentence of its error.
struct Subject {
  Repository repository;
  std::string revision, file;  // may be empty
};

// Requests to the Hub at HF_ENDPOINT. The token goes to that address alone, never to one that it redirects to. Failures
// that pass are tried again a few times.
class Client {
 public:
  explicit Client(std::string token);

  struct Contents {
    std::string commit;
    std::vector<std::string> files;  // names that check_file_name() accepts
  };
  Contents contents(const Repository& repository, std::string_view revision);

  struct FileFacts {
    std::string commit, etag, url;
    std::int64_t size = 0;
  };
  FileFacts facts(const Repository& repository, std::string_view revision, std::string_view file);

  // The bytes of a file from `offset` on. `begin` is told whether they begin there, or at 0 because the server cannot
  // begin elsewhere.
  void get(const FileFacts& file, std::int64_t offset, const Subject& subject,
           const std::function<void(std::int64_t offset)>& begin,
           const std::function<void(std::span<const std::byte>)>& take);

  // A request below the Hub's address, `path` beginning with a slash; the answer as JSON.
  io::Json get_json(const std::string& path, const Subject& subject);
  io::Json post_json(const std::string& path, const std::string& body, const Subject& subject,
                     std::vector<std::string> headers = {"Content-Type: application/json"});

  // Any request. Redirects are followed, and statuses from 400 on are a RefusedError.
  HttpResponse send(HttpRequest request, const Subject& subject);

  const std::string& endpoint() const { return endpoint_; }
  bool has_token() const { return !token_.empty(); }

 private:
  HttpResponse send_once(HttpRequest request);
  HttpResponse send_patiently(const HttpRequest& request);
  [[noreturn]] void refuse(const HttpRequest& request, const HttpResponse& response, const Subject& subject) const;

  std::string token_, endpoint_;
  HttpClient http_;
};

}  // namespace hearth::hub
