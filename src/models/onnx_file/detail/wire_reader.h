/// The wire format of protocol buffers, field by field, from a file
/// (https://protobuf.dev/programming-guides/encoding/).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/core/result.h"
#include "domain/ports/file_tree.h"

namespace berth::models::detail {

/// The bytes of a file from `begin` up to `end`.
struct Extent {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;

  [[nodiscard]] std::uint64_t bytes() const { return end - begin; }
};

/// Reads a file through one small buffer, and keeps the first thing that was wrong.
class WireSource {
 public:
  explicit WireSource(const OpenFile& file);

  [[nodiscard]] Extent whole() const { return {0, bytes_}; }
  /// Requires: within the file.
  [[nodiscard]] std::uint8_t byte_at(std::uint64_t offset);
  /// Requires: within the file.
  [[nodiscard]] std::string text_of(Extent extent);

  void refuse(std::string message);
  [[nodiscard]] bool has_failed() const { return error_.has_value(); }
  /// Requires: has_failed().
  [[nodiscard]] const Error& error() const { return *error_; }

 private:
  void fill(std::uint64_t offset);

  const OpenFile& file_;
  std::uint64_t bytes_;
  std::vector<char> buffer_;
  std::uint64_t buffer_begin_ = 0;
  std::optional<Error> error_;
};

/// The fields of one message, in their order.
///
///   for (WireFields fields(source, extent); fields.next();) if (fields.is_number(1)) use(fields.number());
class WireFields {
 public:
  WireFields(WireSource& source, Extent message) : source_(source), at_(message.begin), end_(message.end) {}

  /// Moves to the next field; false at the end, or if the source has failed. Groups, which nobody writes any more, are
  /// refused.
  [[nodiscard]] bool next();

  /// Whether this field has that number and holds a varint. As in protocol buffers, a field of another kind than
  /// expected is one that is not known.
  [[nodiscard]] bool is_number(std::uint32_t field) const { return field_ == field && kind_ == Kind::kNumber; }
  /// Likewise: whether it holds bytes: a text, a message or packed numbers.
  [[nodiscard]] bool is_bytes(std::uint32_t field) const { return field_ == field && kind_ == Kind::kBytes; }
  /// Whether it has that number and holds four bytes, or eight.
  [[nodiscard]] bool is_fixed(std::uint32_t field) const { return field_ == field && kind_ == Kind::kFixed; }

  /// Requires: is_number.
  [[nodiscard]] std::int64_t number() const { return static_cast<std::int64_t>(number_); }
  /// Requires: is_bytes or is_fixed.
  [[nodiscard]] Extent extent() const { return extent_; }
  /// Requires: is_bytes. Longer texts than `bytes_max` are refused.
  [[nodiscard]] std::string text(std::size_t bytes_max) const;
  /// Calls use(number) for each of packed numbers. Requires: is_bytes.
  template <class Use>
  void for_each_packed(Use use) const {
    for (std::uint64_t at = extent_.begin; at < extent_.end && !source_.has_failed();) {
      use(static_cast<std::int64_t>(read_varint(at, extent_.end)));
    }
  }

 private:
  enum class Kind { kNumber, kFixed, kBytes };

  /// Moves `at` behind the varint.
  [[nodiscard]] std::uint64_t read_varint(std::uint64_t& at, std::uint64_t end) const;
  void take(std::uint64_t bytes);

  WireSource& source_;
  std::uint64_t at_;
  std::uint64_t end_;
  std::uint32_t field_ = 0;
  Kind kind_ = Kind::kNumber;
  std::uint64_t number_ = 0;
  Extent extent_;
};

}  // namespace berth::models::detail
