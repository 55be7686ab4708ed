/// The interface to files: reads the user's paths, so that tests and fuzzers can replace a disk.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/core/result.h"

namespace berth {

/// The bytes of a file. Their address is stable while this object lives.
class FileBytes {
 public:
  virtual ~FileBytes() = default;
  [[nodiscard]] virtual std::string_view bytes() const = 0;
};

/// The bytes of a text that the object owns.
[[nodiscard]] std::unique_ptr<FileBytes> bytes_in_memory(std::string text);

class Files {
 public:
  virtual ~Files() = default;

  /// The whole content of a file, unpacked if it is gzip (also several members). The error says which file and why:
  /// not found, a directory, larger than the reader's limit, broken gzip.
  [[nodiscard]] virtual Result<std::string> read(const std::string& path) const = 0;

  /// The content of a file of any size, like `read`. Avoids a copy in memory where possible; then the file must not be
  /// truncated while it is in use.
  [[nodiscard]] virtual Result<std::unique_ptr<FileBytes>> open(const std::string& path) const;

  /// The names (not paths) of a folder's entries, sorted bytewise; absent if the path is not a folder. The error says
  /// which path and why: not found, no permission, more entries than the lister's limit.
  [[nodiscard]] virtual Result<std::optional<std::vector<std::string>>> list(const std::string& path) const = 0;
};

}  // namespace berth
