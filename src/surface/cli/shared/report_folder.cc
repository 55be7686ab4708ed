#include "surface/cli/shared/report_folder.h"

#include <fmt/format.h>
#include <unistd.h>

#include <system_error>

#include "edges/files/file_sink.h"

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

Result<void> ReportFolder::write_page(const std::string& page) {
  const Result<void> done = edges::write_file_whole(report_page_path(report_dir_).string(), page);
  // A page that cannot be written is a failure of the environment, whatever the code of the error.
  if (!done) return fail(ErrorCode::kUnavailable, done.error().message);
  keep();
  return {};
}

}  // namespace berth::cli
