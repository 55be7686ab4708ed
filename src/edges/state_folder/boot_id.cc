#include "edges/state_folder/boot_id.h"

#include <cstdlib>
#include <fstream>
#include <utility>

#include "edges/files/file_sink.h"

namespace berth::edges {
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

BootRecord::BootRecord(std::string folder) : folder_(std::move(folder)), recorded_(first_line_of(path_in(folder_))) {}

Result<std::string> BootRecord::follow() {
  std::string boot_id = boot_id_now();
  if (boot_id == recorded_) return boot_id;
  if (auto written = write_file_whole(path_in(folder_), boot_id + "\n"); !written) {
    return pass_on(written.error());
  }
  recorded_ = boot_id;
  return boot_id;
}

}  // namespace berth::edges
