/// Atomic writing of files: a reader finds the old file or the complete new one, never a part. PATH.PID.N.part is
/// written, synced, renamed.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/core/result.h"

namespace berth::edges {

/// A file that grows by appending and appears at its path with commit(). If destroyed before that, it leaves no file. A
/// device, a pipe or a descriptor of this process (/dev/null, /dev/stdout) is written directly; links are followed,
/// even to files that do not exist yet.
class FileSink {
 public:
  /// Fails if the path is a directory or its folder does not exist or cannot be written.
  [[nodiscard]] static Result<FileSink> open(const std::string& path);

  FileSink(FileSink&&) noexcept;
  FileSink& operator=(FileSink&&) noexcept;
  ~FileSink();

  /// Buffered. A failure (disk full) is reported by this call or a later one; after it nothing can be committed.
  [[nodiscard]] Result<void> append(std::string_view bytes);
  /// Writes what is buffered, syncs and renames. Requires: not committed yet.
  [[nodiscard]] Result<void> commit();

 private:
  struct State;
  explicit FileSink(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// The same for bytes that are available at once.
[[nodiscard]] Result<void> write_file_whole(const std::string& path, std::string_view bytes);

}  // namespace berth::edges
