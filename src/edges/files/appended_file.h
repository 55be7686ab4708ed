/// A file of lines that grows while a program runs, and goes on after a restart.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "base/core/result.h"

namespace berth::edges {

class AppendedFile {
 public:
  /// What waits while the disk is full; lines that come then are lost.
  static constexpr std::size_t kWaitingBytesMax = std::size_t{8} << 20U;

  /// Creates it if it does not exist. Of a regular file the last line is removed if it is an object that a crash left
  /// unfinished, and no other process may write to it meanwhile. Error (kUnavailable): it cannot be opened for writing,
  /// or another process writes to it.
  [[nodiscard]] static Result<AppendedFile> open(const std::string& path);

  AppendedFile(AppendedFile&&) noexcept;
  AppendedFile& operator=(AppendedFile&&) noexcept;
  ~AppendedFile();

  /// The last lines of a regular file as it was opened, at most `bytes_max`. Error (kUnavailable): it cannot be read.
  [[nodiscard]] Result<std::string> last_lines(std::size_t bytes_max) const;

  /// Writes at once. What cannot be written is tried again by the next call, from the byte where it stopped. Error:
  /// why. Requires: whole lines.
  Result<void> append(std::string_view lines);

 private:
  struct State;
  explicit AppendedFile(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace berth::edges
