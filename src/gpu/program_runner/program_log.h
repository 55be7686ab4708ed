/// The log of a program: what it prints. At 10 MiB it is renamed to LOG.1, which replaces the one before.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "gpu/hands/descriptor.h"

namespace berth::edges {

class LogFile {
 public:
  static constexpr std::int64_t kBytesMax = std::int64_t{10} << 20U;

  /// Appends to a file that only this user can read. If it cannot be opened, everything is dropped.
  explicit LogFile(std::string path);
  void append(std::string_view text);

 private:
  void open();

  std::string path_;
  Descriptor file_;
  std::int64_t size_ = 0;
};

}  // namespace berth::edges
