/// A file descriptor that closes itself, and messages for the system's errors.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "base/core/result.h"

namespace berth::edges::detail {

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor();

  [[nodiscard]] bool is_open() const { return number_ >= 0; }
  [[nodiscard]] int number() const { return number_; }
  /// Closes it now; false if the system reports a failed write only then.
  [[nodiscard]] bool close();

 private:
  int number_;
};

/// "PATH: why" for an errno: kNotFound if it does not exist, kInvalidInput if the path is wrong or not permitted,
/// otherwise kUnavailable.
[[nodiscard]] tl::unexpected<Error> system_error(const std::string& path, std::string_view doing, int number);

/// Writes all bytes, in as many calls as necessary; returns errno or 0.
[[nodiscard]] int write_all(const Descriptor& file, std::string_view bytes);

}  // namespace berth::edges::detail
