/// The one writer of JSON. Numbers are exact: integers of any length, decimals with all their digits.
#pragma once

#include <concepts>
#include <cstddef>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>

#include "base/core/decimal.h"
#include "base/core/int128.h"

namespace berth::json {

/// Writes one value, piece by piece, in the order of the calls; the caller closes what it opened, and gives each member
/// of an object a key. Bytes that are not UTF-8 (such as in a file's stem) become U+FFFD. The same calls give the same
/// bytes.
class Writer {
 public:
  static constexpr int kCompact = -1;
  /// Everything in one line, or each item in its own one, indented by so many spaces per level.
  explicit Writer(int indent = kCompact) : indent_(indent) {}

  Writer& open_object() { return open('{'); }
  Writer& close_object() { return close('}'); }
  Writer& open_list() { return open('['); }
  Writer& close_list() { return close(']'); }
  Writer& open_object(std::string_view of_key) { return key(of_key).open_object(); }
  Writer& open_list(std::string_view of_key) { return key(of_key).open_list(); }
  /// A value must follow.
  Writer& key(std::string_view key);

  Writer& value(std::string_view text);
  Writer& value(const char* text) { return value(std::string_view(text)); }
  Writer& value(const std::string& text) { return value(std::string_view(text)); }
  Writer& value(std::nullptr_t) { return token("null"); }
  /// Shortest text that is read as the same number; null if it is infinite or not a number.
  Writer& value(double number);
  /// All its digits. JSON has no fractions, so a number without a finite decimal form is rounded to a double.
  Writer& value(const Decimal& number);
  Writer& value(Int128 number);
  template <std::same_as<bool> Truth>
  Writer& value(Truth truth) {
    return token(truth ? "true" : "false");
  }
  template <std::integral Integer>
    requires(!std::same_as<Integer, bool> && !std::same_as<Integer, char>)
  Writer& value(Integer number) {
    return value(static_cast<Int128>(number));
  }
  /// The value, or null.
  template <class T>
  Writer& value(const std::optional<T>& value_or_null) {
    return value_or_null ? value(*value_or_null) : value(nullptr);
  }
  /// Text that is one JSON value already.
  Writer& written(std::string_view json) { return token(json); }

  template <class T>
  Writer& member(std::string_view of_key, const T& its_value) {
    return key(of_key).value(its_value);
  }
  /// A list of values.
  template <class Range>
  Writer& list(const Range& items) {
    open_list();
    for (const auto& item : items) value(item);
    return close_list();
  }
  /// A list whose items `write(*this, item)` writes.
  template <std::ranges::range Range, std::invocable<Writer&, std::ranges::range_reference_t<const Range>> Write>
  Writer& list(const Range& items, const Write& write) {
    open_list();
    for (const auto& item : items) write(*this, item);
    return close_list();
  }
  template <class Range, class... Write>
  Writer& list(std::string_view of_key, const Range& items, const Write&... write) {
    return key(of_key).list(items, write...);
  }

  /// What was written; the next value begins anew. Requires: all that was opened is closed.
  [[nodiscard]] std::string take();
  /// The same, with a newline.
  [[nodiscard]] std::string take_line();

 private:
  Writer& open(char bracket);
  Writer& close(char bracket);
  Writer& token(std::string_view token);
  /// Puts what separates a value or key from what is before it.
  void separate();
  void break_line();

  int indent_;
  std::string bytes_;
  std::size_t depth_ = 0;
  bool is_first_ = true;  ///< nothing is written yet in the innermost list or object
  bool is_after_key_ = false;
};

/// One value as JSON.
template <class T>
[[nodiscard]] std::string text_of(const T& value) {
  return Writer().value(value).take();
}

}  // namespace berth::json
