#include "hearth/hub/http.h"

#include <curl/curl.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <exception>
#include <mutex>
#include <system_error>

#include "hearth/base/check.h"
#include "hearth/base/version.h"
#include "hearth/hub/settings.h"

namespace hearth::hub {
namespace {

constexpr long kConnectSeconds = 10, kSilentSeconds = 30;

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(kSpace);
  return begin == text.npos ? "" : text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

struct FreeList {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
struct FreeUrl {
  void operator()(CURLU* url) const { curl_url_cleanup(url); }
};
using Headers = std::unique_ptr<curl_slist, FreeList>;
using Url = std::unique_ptr<CURLU, FreeUrl>;

Url parse_url(const std::string& text) {
  Url url(curl_url());
  check(curl_url_set(url.get(), CURLUPART_URL, text.c_str(), 0) == CURLUE_OK, "'{}' is not an address", text);
  return url;
}

std::string part_of(const Url& url, CURLUPart part, unsigned flags) {
  char* text = nullptr;
  if (curl_url_get(url.get(), part, &text, flags) != CURLUE_OK) return "";
  std::string result(text);
  curl_free(text);
  return result;
}

// A file open for reading, if it has been opened.
struct SourceFile {
  int descriptor = -1;

  SourceFile() = default;
  ~SourceFile() {
    if (descriptor >= 0) ::close(descriptor);
  }
  SourceFile(const SourceFile&) = delete;
  SourceFile& operator=(const SourceFile&) = delete;

  void open(const std::filesystem::path& file) {
    descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    check(descriptor >= 0, "Cannot read {}: {}", file.string(), std::generic_category().message(errno));
  }
};

// One request under way: what libcurl's callbacks need. They must not throw, so that an exception waits in `failure`.
struct Exchange {
  const HttpRequest& request;
  CURL* handle;
  HttpResponse response;
  SourceFile source;  // that is sent
  std::int64_t sent = 0;
  bool began = false;
  std::exception_ptr failure;

  bool is_taken() const { return request.take && (response.status == 200 || response.status == 206); }

  void take_header(std::string_view line) {
    if (line.starts_with("HTTP/")) {  // of the final answer, or of one before it such as a proxy's
      response.headers.clear();
      return;
    }
    const std::size_t colon = line.find(':');
    if (colon != line.npos) response.headers[lower(line.substr(0, colon))] = trimmed(line.substr(colon + 1));
  }

  void read_status() {
    long status = 0;
    curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
    response.status = static_cast<int>(status);
  }

  void take_body(std::span<const std::byte> bytes) {
    read_status();
    if (!is_taken()) {
      response.body.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      return;
    }
    if (!std::exchange(began, true) && request.begin) request.begin(response.status);
    request.take(bytes);
  }

  std::size_t read(std::span<char> buffer) {
    const std::int64_t left = request.file->size - sent;
    const auto wanted = static_cast<std::size_t>(std::min<std::int64_t>(left, std::ssize(buffer)));
    const ssize_t got = ::pread(source.descriptor, buffer.data(), wanted, request.file->offset + sent);
    check(got >= 0, "Cannot read {}: {}", request.file->file.string(), std::generic_category().message(errno));
    check(got > 0 || wanted == 0, "{} became shorter while it was uploaded", request.file->file.string());
    sent += got;
    if (request.sent) request.sent(sent);
    return static_cast<std::size_t>(got);
  }

  template <class Action>
  bool guarded(const Action& action) {
    try {
      action();
      return true;
    } catch (...) {
      failure = std::current_exception();
      return false;
    }
  }
};

std::size_t header_callback(char* data, std::size_t, std::size_t size, void* context) {
  auto& exchange = *static_cast<Exchange*>(context);
  return exchange.guarded([&] { exchange.take_header({data, size}); }) ? size : 0;
}

std::size_t body_callback(char* data, std::size_t, std::size_t size, void* context) {
  auto& exchange = *static_cast<Exchange*>(context);
  return exchange.guarded([&] { exchange.take_body(std::as_bytes(std::span(data, size))); }) ? size : 0;
}

std::size_t read_callback(char* data, std::size_t width, std::size_t count, void* context) {
  auto& exchange = *static_cast<Exchange*>(context);
  std::size_t got = 0;
  return exchange.guarded([&] { got = exchange.read({data, width * count}); }) ? got : CURL_READFUNC_ABORT;
}

void set_limits(CURL* curl) {
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_USERAGENT, "hearth/" HEARTH_VERSION);
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, kConnectSeconds);
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, kSilentSeconds);
  curl_easy_setopt(curl, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
}

void set_trust(CURL* curl, const Certificates& trusted) {
  if (!trusted.bundle.empty()) curl_easy_setopt(curl, CURLOPT_CAINFO, trusted.bundle.c_str());
  if (!trusted.folder.empty()) {
    curl_easy_setopt(curl, CURLOPT_CAINFO, nullptr);
    curl_easy_setopt(curl, CURLOPT_CAPATH, trusted.folder.c_str());
  }
}

Headers header_list(const HttpRequest& request) {
  Headers headers(nullptr);
  const auto add = [&](const char* line) { headers.reset(curl_slist_append(headers.release(), line)); };
  for (const std::string& line : request.headers) add(line.c_str());
  add("Expect:");  // no question before a body is sent
  return headers;
}

void set_body(Exchange& exchange) {
  CURL* const curl = exchange.handle;
  const HttpRequest& request = exchange.request;
  if (request.method == "HEAD") {
    curl_easy_setopt(curl, CURLOPT_NOBODY, 1L);
  } else if (request.file) {
    exchange.source.open(request.file->file);
    curl_easy_setopt(curl, CURLOPT_UPLOAD, 1L);  // PUT
    curl_easy_setopt(curl, CURLOPT_INFILESIZE_LARGE, static_cast<curl_off_t>(request.file->size));
  } else if (request.method == "POST") {
    curl_easy_setopt(curl, CURLOPT_POST, 1L);
    curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, request.body.c_str());
  }
}

void set_callbacks(Exchange& exchange) {
  CURL* const curl = exchange.handle;
  curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, header_callback);
  curl_easy_setopt(curl, CURLOPT_HEADERDATA, &exchange);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, body_callback);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &exchange);
  curl_easy_setopt(curl, CURLOPT_READFUNCTION, read_callback);
  curl_easy_setopt(curl, CURLOPT_READDATA, &exchange);
}

[[noreturn]] void fail_transfer(CURLcode code, const std::string& url, const char* detail) {
  const std::string host = origin_of(url);
  const std::string reason = *detail != '\0' ? detail : curl_easy_strerror(code);
  switch (code) {
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
      fail(
          "the certificate of {} cannot be trusted ({}): nothing was sent; if the certificate is your own network's, "
          "name the file that verifies it in SSL_CERT_FILE",
          host, reason);
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_CONNECT:
    case CURLE_SSL_CONNECT_ERROR:
      throw NetworkError(fmt::format(
          "cannot reach {} ({}): check the network, https_proxy and HF_ENDPOINT, or work from the cache with "
          "HF_HUB_OFFLINE=1",
          host, reason));
    default:
      throw NetworkError(fmt::format("the transfer from {} was cut ({}): the same command continues it", host, reason));
  }
}

void initialise() {
  static std::once_flag once;
  std::call_once(once, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });
}

}  // namespace

struct HttpClient::Handle {
  CURL* curl = curl_easy_init();
  Certificates trusted = certificates();
  ~Handle() { curl_easy_cleanup(curl); }
};

HttpClient::HttpClient() {
  initialise();
  handle_ = std::make_unique<Handle>();
  check(handle_->curl != nullptr, "libcurl cannot be started");
}

HttpClient::~HttpClient() = default;

std::string HttpResponse::header(const std::string& name) const {
  const auto found = headers.find(name);
  return found == headers.end() ? "" : found->second;
}

HttpResponse HttpClient::send(const HttpRequest& request) {
  CURL* const curl = handle_->curl;
  curl_easy_reset(curl);  // keeps open connections
  Exchange exchange{request, curl, {}, {}, 0, false, nullptr};
  char detail[CURL_ERROR_SIZE] = "";
  curl_easy_setopt(curl, CURLOPT_URL, request.url.c_str());
  curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, detail);
  set_limits(curl);
  set_trust(curl, handle_->trusted);
  const Headers headers = header_list(request);
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers.get());
  set_body(exchange);
  set_callbacks(exchange);
  const CURLcode code = curl_easy_perform(curl);
  if (exchange.failure) std::rethrow_exception(exchange.failure);
  if (code != CURLE_OK) fail_transfer(code, request.url, detail);
  exchange.read_status();
  if (exchange.is_taken() && !exchange.began && request.begin) request.begin(exchange.response.status);  // no bytes
  return std::move(exchange.response);
}

std::string origin_of(const std::string& url) {
  const Url parsed = parse_url(url);
  return fmt::format("{}://{}:{}", lower(part_of(parsed, CURLUPART_SCHEME, 0)),
                     lower(part_of(parsed, CURLUPART_HOST, 0)), part_of(parsed, CURLUPART_PORT, CURLU_DEFAULT_PORT));
}

std::string resolved_url(const std::string& base, const std::string& location) {
  const Url url = parse_url(base);
  check(curl_url_set(url.get(), CURLUPART_URL, location.c_str(), 0) == CURLUE_OK,
        "{} leads to '{}', which is no address", base, location);
  return part_of(url, CURLUPART_URL, 0);
}

std::string url_quoted(std::string_view text, std::string_view kept) {
  std::string result;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = std::isalnum(byte) != 0 || std::string_view("-._~").find(c) != std::string_view::npos ||
                       kept.find(c) != kept.npos;
    result += plain ? std::string(1, c) : fmt::format("%{:02X}", byte);
  }
  return result;
}

}  // namespace hearth::hub
