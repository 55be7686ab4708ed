/// JSON as a value: for answers that are put together before they are written.
#pragma once

#include <concepts>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/core/int128.h"
#include "base/json/writer.h"

namespace berth::json {

/// Made of the C++ value of the same kind: nullptr, a bool, an integer of any width, a double, a text, a list, an
/// object, or an optional of these (absent: null). Keys are written in the order in which they are given.
class Value {
 public:
  /// A number that is written already: "12.345678000".
  struct Number {
    std::string decimal;
  };
  using List = std::vector<Value>;
  using Member = std::pair<std::string, Value>;  ///< a key, and its value
  using Object = std::vector<Member>;

  Value(std::nullptr_t = nullptr) {}
  template <std::same_as<bool> T>
  Value(T truth) : value_(truth) {}
  template <class T>
    requires(std::integral<T> || std::same_as<T, Int128>) && (!std::same_as<T, bool>)
  Value(T number) : value_(static_cast<Int128>(number)) {}
  Value(double number) : value_(number) {}
  Value(Number number) : value_(std::move(number)) {}
  Value(std::string text) : value_(std::move(text)) {}
  Value(std::string_view text) : value_(std::string(text)) {}
  Value(const char* text) : value_(std::string(text)) {}
  Value(List items) : value_(std::move(items)) {}
  Value(Object members) : value_(std::move(members)) {}
  template <class T>
  Value(const std::optional<T>& value) : Value(value ? Value(*value) : Value()) {}

  /// Adds the value to what `json` has written. A double as the shortest text that reads back as the same, with a point
  /// or an exponent; one that is not finite as null.
  void write(Writer& json) const;
  /// The value alone, with a newline.
  [[nodiscard]] std::string to_line() const;

 private:
  std::variant<std::nullptr_t, bool, Int128, double, Number, std::string, List, Object> value_;
};

}  // namespace berth::json
