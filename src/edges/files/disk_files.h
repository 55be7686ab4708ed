/// Files of this machine, behind the port `Files`. Only this folder uses zlib.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/core/result.h"
#include "domain/ports/files.h"

namespace berth::edges {

/// Reads regular files whole; gzip (recognised by its first two bytes) is unpacked. Errors: "FILE: why".
class DiskFiles : public Files {
 public:
  static constexpr std::size_t kBytesMaxDefault = std::size_t{1} << 30U;
  static constexpr std::size_t kEntryCountMax = 100'000;  ///< of a folder

  /// No file may be larger than this, packed or unpacked.
  explicit DiskFiles(std::size_t bytes_max = kBytesMaxDefault) : bytes_max_(bytes_max) {}

  [[nodiscard]] Result<std::string> read(const std::string& path) const override;
  /// Plain files are mapped, regardless of their size.
  [[nodiscard]] Result<std::unique_ptr<FileBytes>> open(const std::string& path) const override;
  [[nodiscard]] Result<std::optional<std::vector<std::string>>> list(const std::string& path) const override;

 private:
  std::size_t bytes_max_;
};

}  // namespace berth::edges
