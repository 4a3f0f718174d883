#include "hearth/hub/upload.h"

#include <algorithm>

#include "hearth/base/check.h"
#include "hearth/base/log.h"
#include "hearth/hub/checksum.h"
#include "hearth/hub/client.h"
#include "hearth/hub/lfs.h"
#include "hearth/io/base64.h"
#include "hearth/io/file.h"
#include "hearth/io/json.h"
#include "hearth/io/sha256.h"

namespace hearth::hub {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kBatch = 256;  // files per question, as huggingface_hub
constexpr std::size_t kSample = 512;
const std::vector<std::string> kNeverUploaded{".git/", "*/.git/", ".cache/huggingface/", "*/.cache/huggingface/"};

struct Addition {
  fs::path file;
  std::string name;  // in the repository
  std::int64_t size = 0;
  bool is_large = false, is_left_out = false;
  std::string sha256;  // of a large one
};

void check_upload(const Repository& repository, const UploadOptions& options) {
  check(is_repository_name(repository.name), "'{}' is not a name for a repository: give OWNER/NAME", repository.name);
  check_revision(options.revision, repository);
  check(!options.message.empty(), "a commit needs a message");
  const std::string offline = offline_variable(repository.kind);
  check(offline.empty(), "{} forbids to upload: unset it", offline);
}

std::vector<Addition> files_to_upload(const fs::path& source, const UploadOptions& options) {
  FilePatterns patterns = options.patterns;
  patterns.exclude.insert(patterns.exclude.end(), kNeverUploaded.begin(), kNeverUploaded.end());
  std::string prefix = options.path_in_repo;
  while (prefix.ends_with('/')) prefix.pop_back();
  std::vector<Addition> found;
  const auto add = [&](const fs::path& file, const std::string& name) {
    found.push_back({file, name, static_cast<std::int64_t>(fs::file_size(file)), false, false, ""});
  };
  if (fs::is_regular_file(source)) {
    add(source, prefix.empty() ? source.filename().string() : prefix);
    return found;
  }
  check(fs::is_directory(source), "{} is neither a folder nor a file: there is nothing to upload", source.string());
  for (const auto& entry : fs::recursive_directory_iterator(source)) {
    const std::string name = entry.path().lexically_relative(source).generic_string();
    if (entry.is_regular_file() && patterns.accepts(name))
      add(entry.path(), prefix.empty() ? name : prefix + "/" + name);
  }
  std::ranges::sort(found, {}, &Addition::name);
  check(!found.empty(), "{} has no files to upload", source.string());
  return found;
}

class Uploader {
 public:
  Uploader(Repository repository, const UploadOptions& options, const Access& access)
      : client_(token_of(access)),
        options_(options),
        quiet_(access.quiet),
        subject_{std::move(repository), options.revision, ""} {
    check(client_.has_token(),
          "uploading needs a token with write access: give --token or HF_TOKEN, or log in with `hf auth login`");
  }

  const Repository& create() {
    complete_name();
    create_repository();
    return subject_.repository;
  }

  Commit run(std::vector<Addition> files) {
    create();
    create_branch();
    ask_for_modes(files);
    std::erase_if(files, [](const Addition& file) { return file.is_left_out; });
    const std::string page = client_.endpoint() + "/" + subject_.repository.url_path();
    if (files.empty()) {
      log_info("the Hub has all these files already: there is nothing to commit");
      return {subject_.repository, page + "/tree/" + options_.revision};
    }
    upload_large(files);
    const io::Json answer =
        client_.post_json(api("commit"), commit_text(files), subject_, {"Content-Type: application/x-ndjson"});
    return {subject_.repository, io::get_string_or(answer, "commitUrl", page, api("commit"))};
  }

 private:
  std::string api(std::string_view action) const {
    return fmt::format("/api/{}/{}/{}", subject_.repository.api_path(), action, url_quoted(options_.revision));
  }

  void complete_name() {
    std::string& name = subject_.repository.name;
    if (name.find('/') != name.npos) return;
    const io::Json me = client_.get_json("/api/whoami-v2", {});
    name = io::get_string(me, "name", "/api/whoami-v2") + "/" + name;
  }

  void create_repository() {
    const std::string& name = subject_.repository.name;
    const std::size_t slash = name.find('/');
    const io::Json wanted{{"name", name.substr(slash + 1)},
                          {"organization", name.substr(0, slash)},
                          {"type", subject_.repository.kind == Repository::Kind::model ? "model" : "dataset"},
                          {"private", options_.is_private}};
    try {
      client_.post_json("/api/repos/create", io::dump_json(wanted, io::kOneLine), subject_);
    } catch (const RefusedError& error) {
      if (error.status() != 409 && !(error.status() == 403 && exists())) throw;
    }
  }

  // Some tokens may write into a repository, but not create one.
  bool exists() try {
    client_.contents(subject_.repository, kMainRevision);
    return true;
  } catch (const RefusedError&) {
    return false;
  }

  void create_branch() {
    if (options_.revision == kMainRevision) return;
    try {
      client_.contents(subject_.repository, options_.revision);
    } catch (const RefusedError& error) {
      if (error.code() != "RevisionNotFound") throw;
      client_.post_json(api("branch"), "{}", subject_);
    }
  }

  // Asks which files are large, and finds those that have not changed.
  void ask_for_modes(std::vector<Addition>& files) {
    for (std::size_t begin = 0; begin < files.size(); begin += kBatch) {
      const auto batch = std::span(files).subspan(begin, std::min(kBatch, files.size() - begin));
      io::Json questions = io::Json::array();
      for (const Addition& file : batch) {
        const io::MappedFile contents(file.file);
        questions.push_back({{"path", file.name},
                             {"sample", io::encode_base64(contents.text().substr(0, kSample))},
                             {"size", file.size}});
      }
      const io::Json answer =
          client_.post_json(api("preupload"), io::dump_json({{"files", std::move(questions)}}, io::kOneLine), subject_);
      check(answer.contains("files") && answer["files"].is_array(), "{}{} does not say how to upload",
            client_.endpoint(), api("preupload"));
      for (const io::Json& row : answer["files"]) take_mode(row, batch);
    }
  }

  void take_mode(const io::Json& row, std::span<Addition> batch) {
    const std::string path = io::get_string(row, "path", api("preupload"));
    const auto file = std::ranges::find(batch, path, &Addition::name);
    check(file != batch.end(), "{}{} asks for {}, which it was not offered", client_.endpoint(), api("preupload"),
          path);
    // The storage of large files does not take empty ones.
    file->is_large = file->size > 0 && io::get_string(row, "uploadMode", api("preupload")) == "lfs";
    const std::string there = io::get_string_or(row, "oid", "", api("preupload"));
    if (file->is_large) file->sha256 = io::sha256_of_file(file->file);
    file->is_left_out = io::get_bool_or(row, "shouldIgnore", false, api("preupload")) ||
                        (!there.empty() && there == (file->is_large ? file->sha256 : git_blob_id(file->file)));
  }

  void upload_large(const std::vector<Addition>& files) {
    std::vector<LargeFile> large;
    for (const Addition& file : files)
      if (file.is_large) large.push_back({file.file, file.name, file.sha256, file.size});
    upload_large_files(client_, large, subject_, quiet_);
  }

  // A line of JSON for the message, then one per file.
  std::string commit_text(const std::vector<Addition>& files) const {
    std::string text;
    const auto add = [&](const char* key, const io::Json& value) {
      text += io::dump_json({{"key", key}, {"value", value}}, io::kOneLine) + "\n";
    };
    add("header", {{"summary", options_.message}, {"description", ""}});
    for (const Addition& file : files) {
      if (file.is_large)
        add("lfsFile", {{"path", file.name}, {"algo", "sha256"}, {"oid", file.sha256}, {"size", file.size}});
      else
        add("file",
            {{"content", io::encode_base64(io::read_file(file.file))}, {"path", file.name}, {"encoding", "base64"}});
    }
    return text;
  }

  Client client_;
  const UploadOptions& options_;
  bool quiet_;
  Subject subject_;
};

}  // namespace

Repository create_repository(Repository repository, const UploadOptions& options, const Access& access) {
  check_upload(repository, options);
  return Uploader(std::move(repository), options, access).create();
}

Commit upload(Repository repository, const fs::path& source, const UploadOptions& options, const Access& access) {
  check_upload(repository, options);
  std::vector<Addition> files = files_to_upload(source, options);
  return Uploader(std::move(repository), options, access).run(std::move(files));
}

}  // namespace hearth::hub
