#include "surface/cli/up/boot_id.h"

#include <cstdlib>
#include <fstream>

#include "edges/files/file_sink.h"

namespace berth::cli {
namespace {

std::string first_line_of(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::string path_in(const std::string& folder) { return folder + "/boot_id"; }

}  // namespace

std::string boot_id_now() {
  const char* const named = std::getenv("BERTH_BOOT_ID");  // NOLINT(concurrency-mt-unsafe): read only
  return first_line_of(named != nullptr ? named : "/proc/sys/kernel/random/boot_id");
}

std::string recorded_boot_id(const std::string& folder) { return first_line_of(path_in(folder)); }

Result<void> record_boot_id(const std::string& folder, const std::string& boot_id) {
  return edges::write_file_whole(path_in(folder), boot_id + "\n");
}

}  // namespace berth::cli
