/// The folder that an option such as --report names, and the page in it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/core/result.h"
#include "edges/files/file_sink.h"

namespace berth::cli {

/// The path of the page of --report DIR.
[[nodiscard]] std::filesystem::path report_page_path(const std::string& report_dir);

/// The same for an option that may be absent.
[[nodiscard]] std::optional<std::string> report_page_of(const std::optional<std::string>& report_dir);

/// A folder that is created with its parents, and removed again unless it is kept: a failed run leaves no folders
/// behind.
class ReportFolder {
 public:
  ReportFolder() = default;
  ReportFolder(const ReportFolder&) = delete;
  ReportFolder& operator=(const ReportFolder&) = delete;
  ~ReportFolder();

  /// Creates the folder of an option. Error: kUnavailable if it cannot be created or is not writable.
  [[nodiscard]] Result<void> make(const std::string& report_dir, std::string_view option = "--report");
  /// To be called when the files in it are complete.
  void keep() { made_.clear(); }
  /// Writes the page, which appears with commit(), after which keep() must be called. Error: kUnavailable. Requires:
  /// make() succeeded.
  [[nodiscard]] Result<edges::FileSink> stage_page(const std::string& page) const;

 private:
  std::string report_dir_;
  std::vector<std::filesystem::path> made_;  ///< deepest first
};

}  // namespace berth::cli
