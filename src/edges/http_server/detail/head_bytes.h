/// Whether libmicrohttpd has taken all bytes of a request's head. Its version 0.9 takes a NUL for the end of a text,
/// and drops the bytes after it; of a folded line it makes a part of the header's name.
#pragma once

#include <microhttpd.h>

#include <cstddef>
#include <string_view>

namespace berth::edges::detail {

/// Follows the texts that were found in the buffer of a head, where the library has replaced the bytes that end them by
/// NUL. Takes them in their order: method, target, version, then name and value of each header.
class HeadBytes {
 public:
  /// Requires: the buffer begins with the method.
  explicit HeadBytes(std::string_view buffer);

  void take_target(std::string_view text);
  void take_version(std::string_view text);
  void take_header(std::string_view name, std::string_view value);

  /// After the last header: whether nothing lies between the texts but what ends them. A NUL right before a line feed
  /// without a carriage return is not seen.
  [[nodiscard]] bool is_whole() const;

 private:
  /// The bytes up to the text, which are taken, too. Nothing if the text is not there.
  [[nodiscard]] std::string_view take(std::string_view text);
  /// Whether the next text begins a line.
  void take_line(std::string_view text);

  const char* at_;
  const char* const end_;
  bool is_whole_ = true;
};

/// Whether that holds for the texts of this library. Version 1.0 keeps other bytes, and refuses a NUL itself.
[[nodiscard]] bool has_head_bytes();

}  // namespace berth::edges::detail
