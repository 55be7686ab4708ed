#include "gpu/program_runner/readable_engine.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <filesystem>
#include <system_error>

#include "gpu/program_runner/disk_records.h"
#include "gpu/program_runner/trusted_file.h"

namespace berth::edges {
namespace {

namespace fs = std::filesystem;

bool may_all_read(const std::string& path) {
  struct stat found = {};
  for (std::size_t end = path.find('/', 1); end != std::string::npos; end = path.find('/', end + 1)) {
    if (::stat(path.substr(0, end).c_str(), &found) != 0 || (found.st_mode & S_IXOTH) == 0) return false;
  }
  return ::stat(path.c_str(), &found) == 0 && (found.st_mode & S_IROTH) != 0;
}

/// Under another name first, so that no program loads half of it.
std::error_code copy_for_all(const fs::path& from, const fs::path& to) {
  std::error_code trouble;
  if (fs::exists(to, trouble) && fs::file_size(to, trouble) == fs::file_size(from, trouble) &&
      fs::last_write_time(to, trouble) >= fs::last_write_time(from, trouble)) {
    return {};
  }
  const fs::path fresh = to.string() + ".new";
  fs::copy_file(from, fresh, fs::copy_options::overwrite_existing, trouble);
  if (!trouble) fs::permissions(fresh, fs::perms(0644), trouble);
  if (!trouble) fs::rename(fresh, to, trouble);
  return trouble;
}

}  // namespace

Result<std::string> readable_engine(const std::string& library, const std::string& folder) {
  std::error_code trouble;
  const fs::path whole = fs::canonical(library, trouble);
  if (trouble) {
    return invalid(fmt::format("engine: wanted the library of ONNX Runtime, found {}: {}", library, trouble.message()));
  }
  if (may_all_read(whole.string())) return whole.string();
  if (auto made = make_own_folder(folder, 0755); !made) return pass_on(made.error());
  for (const auto& entry : fs::directory_iterator(whole.parent_path(), trouble)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with("libonnxruntime") && entry.path() != whole) continue;
    std::error_code ignored;
    if (!entry.is_regular_file(ignored)) continue;
    // Whoever else can write there could have any file of root copied for all to read.
    if (auto trusted = check_trusted(entry.path().string()); !trusted) {
      return invalid("engine: " + trusted.error().message);
    }
    if (const auto failed = copy_for_all(entry.path(), fs::path(folder) / name)) {
      return fail(ErrorCode::kUnavailable, fmt::format("engine: {} cannot be copied for other users: {}",
                                                       entry.path().string(), failed.message()));
    }
  }
  return (fs::path(folder) / whole.filename()).string();
}

}  // namespace berth::edges
