#include "surface/cli/shared/report_folder.h"

#include <fmt/format.h>
#include <unistd.h>

#include <system_error>

#include "surface/cli/shared/unwritable.h"

namespace berth::cli {

std::filesystem::path report_page_path(const std::string& report_dir) {
  return std::filesystem::path(report_dir) / "index.html";
}

std::optional<std::string> report_page_of(const std::optional<std::string>& report_dir) {
  if (!report_dir) return std::nullopt;
  return report_page_path(*report_dir).string();
}

ReportFolder::~ReportFolder() {
  std::error_code ignored;
  for (const std::filesystem::path& folder : made_) std::filesystem::remove(folder, ignored);  // only while it is empty
}

Result<void> ReportFolder::make(const std::string& report_dir, std::string_view option) {
  namespace fs = std::filesystem;
  report_dir_ = report_dir;
  std::error_code error;
  const fs::path whole = fs::absolute(report_dir, error).lexically_normal();
  for (fs::path missing = whole; !fs::exists(missing, error) && missing.has_relative_path();) {
    made_.push_back(missing);
    missing = missing.parent_path();
  }
  fs::create_directories(whole, error);
  if (error) return fail(ErrorCode::kUnavailable, fmt::format("{} {}: {}", option, report_dir, error.message()));
  if (::access(whole.c_str(), W_OK | X_OK) != 0) {
    return fail(ErrorCode::kUnavailable, fmt::format("{} {}: no permission to write there", option, report_dir));
  }
  return {};
}

Result<edges::FileSink> ReportFolder::stage_page(const std::string& page) const {
  auto file = edges::FileSink::open(report_page_path(report_dir_).string());
  if (!file) return unwritable(file.error());
  if (auto added = file->append(page); !added) return unwritable(added.error());
  return file;
}

}  // namespace berth::cli
