#include "hearth/launch/plan/hostfile.h"

#include <netdb.h>

#include <algorithm>
#include <sstream>

#include "hearth/base/check.h"
#include "hearth/io/file.h"

namespace hearth::launch {
namespace {

bool is_known(const std::string& host) {
  addrinfo* found = nullptr;
  if (getaddrinfo(host.c_str(), nullptr, nullptr, &found) != 0) return false;
  freeaddrinfo(found);
  return true;
}

// "host:4" of MPICH and Intel MPI; more than one colon is an address of IPv6.
std::string without_slots(const std::string& word) {
  return std::ranges::count(word, ':') == 1 ? word.substr(0, word.find(':')) : word;
}

}  // namespace

std::vector<std::string> read_hostfile(const std::filesystem::path& path) {
  check(std::filesystem::exists(path),
        "there is no hostfile {}: give one with --mpirun_hostfile, with one host per line", path.string());
  return parse_hostfile(io::read_file(path), path.string(), is_known);
}

std::vector<std::string> parse_hostfile(const std::string& text, const std::string& file,
                                        const std::function<bool(const std::string& host)>& is_known_host) {
  std::istringstream lines(text);
  std::vector<std::string> hosts;
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    std::istringstream words(line.substr(0, line.find('#')));
    std::string word;
    if (!(words >> word)) continue;
    hosts.push_back(without_slots(word));
    check(is_known_host(hosts.back()),
          "{}, line {}: the host '{}' cannot be resolved; correct it, or add it to /etc/hosts", file, number,
          hosts.back());
  }
  check(!hosts.empty(), "the hostfile {} names no host: write one per line", file);
  return hosts;
}

}  // namespace hearth::launch
