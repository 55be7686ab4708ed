/// The folder of --report and the page in it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"

namespace berth::cli {

/// Where the page of --report DIR stands.
[[nodiscard]] std::filesystem::path report_page_path(const std::string& report_dir);

/// A folder that is made with its parents, and unmade again unless its page was written: what was not there before a
/// failed run is not there after it.
class ReportFolder {
 public:
  ReportFolder() = default;
  ReportFolder(const ReportFolder&) = delete;
  ReportFolder& operator=(const ReportFolder&) = delete;
  ~ReportFolder();

  /// Error (kUnavailable) where it cannot be made, or nothing may be written there.
  [[nodiscard]] Result<void> make(const std::string& report_dir);
  /// Writes the page whole and keeps the folder. Error: kUnavailable. Requires: make() succeeded.
  [[nodiscard]] Result<void> write_page(const std::string& page);

 private:
  std::string report_dir_;
  std::vector<std::filesystem::path> made_;  ///< deepest first
};

}  // namespace berth::cli
