/// A file of lines that grows while a program runs, and goes on after a restart.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "base/core/result.h"
#include "edges/files/detail/descriptor.h"

namespace berth::edges {

class AppendedFile {
 public:
  /// What waits while the disk is full; lines that come then are lost.
  static constexpr std::size_t kWaitingBytesMax = std::size_t{8} << 20U;

  /// Creates it if it does not exist. Of a regular file the last line is removed if a crash left it unfinished, and no
  /// other process may write to it meanwhile. Error (kUnavailable): it cannot be opened for writing, or another process
  /// writes to it.
  [[nodiscard]] static Result<AppendedFile> open(const std::string& path);

  /// The last lines of a regular file as it was opened, at most `bytes_max`. Error (kUnavailable): it cannot be read.
  [[nodiscard]] Result<std::string> last_lines(std::size_t bytes_max) const;

  /// Writes at once. What cannot be written is tried again by the next call, from the byte where it stopped. Error: why.
  /// Requires: whole lines.
  Result<void> append(std::string_view lines);

 private:
  AppendedFile(std::string path, detail::Descriptor file) : path_(std::move(path)), file_(std::move(file)) {}

  /// Removes an unfinished last line.
  [[nodiscard]] Result<void> repair_end() const;

  std::string path_;
  detail::Descriptor file_;
  std::string waiting_;
};

}  // namespace berth::edges
