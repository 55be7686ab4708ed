/// The door to files: what reads a scenario's paths, so that tests and fuzzers can stand in for a disk.
#pragma once

#include <string>

#include "base/result.h"

namespace berth {

class Files {
 public:
  virtual ~Files() = default;

  /// The whole content of a file, unpacked where it is gzip (also several members). The error says which file and why:
  /// not found, a directory, larger than the reader's limit, broken gzip.
  [[nodiscard]] virtual Result<std::string> read(const std::string& path) const = 0;
};

}  // namespace berth
