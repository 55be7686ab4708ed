/// Atomic writing of folders: a reader finds no folder, or the complete one. A hidden folder next to it is written,
/// synced, renamed.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/core/result.h"

namespace berth::edges {

/// Whether a folder can be made at `path`: nothing or an empty folder is there, and the folder around it exists and can
/// be written. Errors, "PATH: wanted .., found ..": kInvalidInput.
[[nodiscard]] Result<void> check_new_folder(const std::string& path);

/// A folder that appears at its path with commit(). If destroyed before that, it leaves nothing.
class FolderSink {
 public:
  /// Errors: those of check_new_folder; kUnavailable: it cannot be made.
  [[nodiscard]] static Result<FolderSink> open(const std::string& path);

  FolderSink(FolderSink&&) noexcept;
  FolderSink& operator=(FolderSink&&) noexcept;
  ~FolderSink();

  /// Writes and syncs a file. `name` is relative, "a/b.txt"; folders on the way are made. Requires: it does not leave
  /// the folder, and was not added yet.
  [[nodiscard]] Result<void> add(std::string_view name, std::string_view bytes);
  /// Syncs and renames. Error, and nothing appears: kUnavailable; kInvalidInput if something is there meanwhile.
  /// Requires: not committed yet.
  [[nodiscard]] Result<void> commit();

 private:
  struct State;
  explicit FolderSink(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace berth::edges
