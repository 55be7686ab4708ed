/// JSON whose integers may have any length: money is exact.
#pragma once

#include <string>
#include <string_view>

#include "base/core/decimal.h"

namespace berth::json {

/// Writes one value piece by piece; the caller closes every object and list that it opened. Bytes that are not UTF-8
/// become U+FFFD.
class JsonWriter {
 public:
  JsonWriter& open_object() { return open('{'); }
  JsonWriter& close_object() { return close('}'); }
  JsonWriter& open_list() { return open('['); }
  JsonWriter& close_list() { return close(']'); }
  JsonWriter& key(std::string_view key);

  JsonWriter& text(std::string_view text);
  JsonWriter& integer(Int128 number);
  /// A number given as text: "12.345678".
  JsonWriter& number(std::string_view decimal);
  JsonWriter& truth(bool truth);
  JsonWriter& null();

  /// The text written so far, with a newline.
  [[nodiscard]] std::string take();

 private:
  JsonWriter& open(char bracket);
  JsonWriter& close(char bracket);
  JsonWriter& raw(std::string_view token);

  std::string bytes_;
  bool needs_comma_ = false;
};

}  // namespace berth::json
