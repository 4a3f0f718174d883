#include "hearth/hub/lfs.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <thread>

#include "hearth/base/check.h"
#include "hearth/base/progress.h"
#include "hearth/base/whole_number.h"
#include "hearth/io/json.h"

namespace hearth::hub {
namespace {

using namespace std::chrono_literals;

constexpr int kMostTries = 4;
constexpr auto kPause = 500ms;
constexpr std::int64_t kMebibyte = 1 << 20;
constexpr std::size_t kBatch = 256;  // files per question, as huggingface_hub

const std::vector<std::string> kLfsHeaders{"Accept: application/vnd.git-lfs+json",
                                           "Content-Type: application/vnd.git-lfs+json"};

std::string number_text(const io::Json& value) {
  return value.is_string() ? value.get<std::string>() : io::dump_json(value, io::kOneLine);
}

// One file whose contents the storage asks for.
class Upload {
 public:
  Upload(Client& client, const LargeFile& file, const Subject& subject, bool quiet)
      : client_(client),
        file_(file),
        subject_(subject),
        progress_("uploading " + file.name + ", MiB", file.size / kMebibyte, quiet || file.size < kMebibyte) {}

  void run(const io::Json& actions) {
    const io::Json& upload = actions.at("upload");
    const io::Json header = upload.value("header", io::Json::object());
    const std::string href = io::get_string(upload, "href", kAnswer);
    if (header.contains("chunk_size")) {
      send_parts(header, href);
    } else {
      put(href, 0, file_.size);
    }
    if (actions.contains("verify")) {
      const io::Json proof{{"oid", file_.sha256}, {"size", file_.size}};
      post(io::get_string(actions["verify"], "href", kAnswer), proof, {"Content-Type: application/json"});
    }
  }

 private:
  static constexpr const char* kAnswer = "the answer of the Hub's LFS service";

  // Returns the ETag that the storage gives the bytes.
  std::string put(const std::string& url, std::int64_t offset, std::int64_t size) {
    HttpRequest request;
    request.method = "PUT";
    request.url = url;
    request.file = FilePart{file_.file, offset, size};
    request.sent = [&](std::int64_t bytes) { progress_.update((offset + bytes) / kMebibyte); };
    for (int tries = 1;; ++tries) try {
        return client_.send(request, subject_).header("etag");
      } catch (const NetworkError&) {
        if (tries == kMostTries) throw;
        std::this_thread::sleep_for(kPause * tries);
      }
  }

  void post(const std::string& url, const io::Json& body, const std::vector<std::string>& headers) {
    HttpRequest request;
    request.method = "POST";
    request.url = url;
    request.headers = headers;
    request.body = io::dump_json(body, io::kOneLine);
    client_.send(std::move(request), subject_);
  }

  // The header has the size of the parts, and an address under the number of each.
  void send_parts(const io::Json& header, const std::string& completion) {
    const auto chunk = whole_number<std::int64_t>(number_text(header["chunk_size"]));
    check(chunk && *chunk > 0, "{} has no size of parts", kAnswer);
    std::map<std::int64_t, std::string> addresses;
    for (const auto& [key, value] : header.items())
      if (const auto number = whole_number<std::int64_t>(key)) addresses[*number] = number_text(value);
    check(std::ssize(addresses) == (file_.size + *chunk - 1) / *chunk, "{} has {} addresses for the parts of {}",
          kAnswer, addresses.size(), file_.name);
    io::Json parts = io::Json::array();
    std::int64_t offset = 0;
    for (const auto& [number, url] : addresses) {
      const std::string etag = put(url, offset, std::min(*chunk, file_.size - offset));
      check(!etag.empty(), "the storage does not confirm part {} of {}", number, file_.name);
      parts.push_back({{"partNumber", number}, {"etag", etag}});
      offset += *chunk;
    }
    post(completion, {{"oid", file_.sha256}, {"parts", std::move(parts)}}, kLfsHeaders);
  }

  Client& client_;
  const LargeFile& file_;
  const Subject& subject_;
  Progress progress_;
};

void upload_batch(Client& client, std::span<const LargeFile> files, const Subject& subject, bool quiet) {
  io::Json objects = io::Json::array();
  for (const LargeFile& file : files) objects.push_back({{"oid", file.sha256}, {"size", file.size}});
  const io::Json question{{"operation", "upload"},
                          {"transfers", {"basic", "multipart"}},
                          {"objects", std::move(objects)},
                          {"hash_algo", "sha256"},
                          {"ref", {{"name", subject.revision}}}};
  const std::string path = fmt::format("/{}.git/info/lfs/objects/batch", subject.repository.url_path());
  const io::Json answer = client.post_json(path, io::dump_json(question, io::kOneLine), subject, kLfsHeaders);
  check(answer.contains("objects") && answer["objects"].is_array(), "{}{} does not say what to upload",
        client.endpoint(), path);
  for (const io::Json& object : answer["objects"]) {
    const std::string oid = io::get_string(object, "oid", path);
    const auto file = std::ranges::find(files, oid, &LargeFile::sha256);
    check(file != files.end(), "{}{} asks for a file that it was not offered", client.endpoint(), path);
    check(!object.contains("error"), "the Hub does not take {}: {}", file->name,
          object.contains("error") ? io::excerpt(object["error"]) : "");
    if (object.contains("actions")) Upload(client, *file, subject, quiet).run(object["actions"]);
  }
}

}  // namespace

void upload_large_files(Client& client, std::span<const LargeFile> files, const Subject& subject, bool quiet) {
  for (std::size_t begin = 0; begin < files.size(); begin += kBatch)
    upload_batch(client, files.subspan(begin, std::min(kBatch, files.size() - begin)), subject, quiet);
}

}  // namespace hearth::hub
