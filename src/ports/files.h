/// The door to files: what reads the user's paths, so that tests and fuzzers can stand in for a disk.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace berth {

class Files {
 public:
  virtual ~Files() = default;

  /// The whole content of a file, unpacked where it is gzip (also several members). The error says which file and why:
  /// not found, a directory, larger than the reader's limit, broken gzip.
  [[nodiscard]] virtual Result<std::string> read(const std::string& path) const = 0;

  /// The names (not paths) of what stands in a folder, sorted by their bytes; absent where the path is no folder. The
  /// error says which path and why: not found, no permission, more entries than the lister's limit.
  [[nodiscard]] virtual Result<std::optional<std::vector<std::string>>> list(const std::string& path) const = 0;
};

}  // namespace berth
