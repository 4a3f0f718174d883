#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "hearth/hub/client.h"

namespace hearth::hub {

// A large file on its way to the Hub's storage.
struct LargeFile {
  std::filesystem::path file;
  std::string name;    // in the repository
  std::string sha256;  // 64 digits
  std::int64_t size = 0;
};

// Sends the contents that the storage does not have yet, with the protocol of Git LFS: in one piece or in the parts
// that the server asks for. Each upload is verified where the server says how.
void upload_large_files(Client& client, std::span<const LargeFile> files, const Subject& subject, bool quiet);

}  // namespace hearth::hub
