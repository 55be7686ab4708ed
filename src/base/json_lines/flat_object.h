/// JSON objects of plain values, one per line: files of events, read at hundreds of megabytes per second.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "base/core/result.h"

namespace berth::json {

enum class FlatKind : std::uint8_t {
  kText,
  kInteger,  ///< written as one, and within 64 bits
  kTruth,
  kFraction,  ///< with a point or an exponent
  kOther,     ///< null, a list, an object, an integer from 2^63 to 2^64 - 1: the text says which
};

struct FlatMember {
  std::string_view key;  ///< without escapes
  FlatKind kind = FlatKind::kOther;
  std::string_view text = {};  ///< kText: the value without escapes; kOther: what it is
  std::int64_t number = 0;     ///< kInteger: the value; kTruth: 0 or 1
};

/// Reads objects one after the other. Its memory depends on the longest line, up to `kLineBytesMax`.
class FlatObjectReader {
 public:
  static constexpr std::size_t kLineBytesMax = 65'536;

  FlatObjectReader();
  FlatObjectReader(FlatObjectReader&&) noexcept;
  FlatObjectReader& operator=(FlatObjectReader&&) noexcept;
  ~FlatObjectReader();

  /// The members of the object, in their order, repeated keys included; valid until the next call. Errors, without a
  /// position: longer than kLineBytesMax, not UTF-8, not JSON, deeper than 64 levels, not an object; with the key: an
  /// integer beyond 64 bits, a number beyond the range of a double. O(bytes).
  [[nodiscard]] Result<std::span<const FlatMember>> read(std::string_view line);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace berth::json
