/// Small world-readable files and folders. Errors are kUnavailable, with path and reason.
#pragma once

#include <cerrno>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/core/result.h"

namespace berth::nvml_sim_cli {

/// The system's message for an errno; by default the last one.
[[nodiscard]] std::string text_of_errno(int number = errno);

/// Creates a folder and its parents.
[[nodiscard]] Result<void> make_folder(const std::filesystem::path& path);
/// Who may write a world-readable file.
enum class Writers { kOwner, kEveryone };
/// Writes a file in place, so that processes that have it mounted see the new text. An existing file keeps its mode.
[[nodiscard]] Result<void> write_file(const std::filesystem::path& path, std::string_view text,
                                      Writers writers = Writers::kOwner);
[[nodiscard]] Result<void> make_link(const std::filesystem::path& target, const std::filesystem::path& link);
/// The text of a file; kNotFound if there is none.
[[nodiscard]] Result<std::string> read_file(const std::filesystem::path& path);
/// The same, empty if it cannot be read.
[[nodiscard]] std::string read_if_there(const std::filesystem::path& path);

/// A private folder in $TMPDIR (or /tmp), removed with its content at the end.
class PrivateFolder {
 public:
  /// kUnavailable.
  [[nodiscard]] static Result<PrivateFolder> make();
  PrivateFolder(PrivateFolder&& other) noexcept : path_(std::move(other.path_)) { other.path_.clear(); }
  PrivateFolder& operator=(PrivateFolder&&) = delete;
  ~PrivateFolder();
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  explicit PrivateFolder(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

}  // namespace berth::nvml_sim_cli
