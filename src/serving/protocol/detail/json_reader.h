/// Reads a JSON text from front to back, without a tree: a body of 64 MiB of numbers goes straight into its tensor.
#pragma once

#include <concepts>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "serving/protocol/detail/json_number.h"
#include "serving/service/inference.h"

namespace berth::serving::protocol::detail {

/// The deepest nesting of objects and lists.
inline constexpr std::size_t kJsonDepthMax = 64;

/// Each function reads one value, where one is due; it returns false after the first failure, which is kept, and then
/// all others do. Strict (RFC 8259, UTF-8). O(bytes) in all, and no memory but the results.
class JsonReader {
 public:
  /// The text is borrowed. `source` names it in messages: "the body".
  JsonReader(std::string_view text, std::string_view source) : text_(text), source_(source) {}

  /// The first byte of the next value or mark; NUL at the end of the text.
  [[nodiscard]] char peek() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  /// Calls `on_member(key)` for each member; it must read the value, and returns whether to go on. Keys may repeat.
  template <std::predicate<const std::string&> OnMember>
  [[nodiscard]] bool object(const OnMember& on_member) {
    if (!open('{', "an object")) return false;
    std::string key;
    bool is_more = peek() != '}';
    while (is_more) {
      if (peek() != '"') return fail("a key in quotes");
      if (!text(key) || !mark(':') || !on_member(key)) return false;
      is_more = take(',');
    }
    return close('}');
  }
  /// Calls `on_item()` for each item; it must read the value, and returns whether to go on.
  template <std::predicate OnItem>
  [[nodiscard]] bool list(const OnItem& on_item) {
    if (!open('[', "a list")) return false;
    bool is_more = peek() != ']';
    while (is_more) {
      if (!on_item()) return false;
      is_more = take(',');
    }
    return close(']');
  }
  /// Replaces `text`.
  [[nodiscard]] bool text(std::string& text);
  [[nodiscard]] bool number(JsonNumber& number);
  [[nodiscard]] bool truth(bool& truth);
  /// True if the value is null, which is then read. Never a failure.
  [[nodiscard]] bool take_null();
  /// Checks a value of any kind and leaves it out.
  [[nodiscard]] bool skip();
  /// Nothing but space may follow.
  [[nodiscard]] bool end();

  /// For a value that can be read only after what follows: where the next value begins, and the way back to it.
  [[nodiscard]] std::size_t place() {
    static_cast<void>(peek());
    return at_;
  }
  void go_to(std::size_t place) { at_ = place; }
  /// Bytes behind the place.
  [[nodiscard]] std::size_t rest_bytes() const { return text_.size() - at_; }

  /// What is found here is not what was wanted. Returns false.
  bool fail(std::string_view wanted);
  /// A failure in the sense of what was read. Returns false.
  bool refuse(ServeFault fault, std::string message);
  /// Requires: a function returned false.
  [[nodiscard]] ServeError failure() const;

 private:
  static bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

  [[nodiscard]] bool open(char bracket, std::string_view what);
  [[nodiscard]] bool close(char bracket);
  [[nodiscard]] bool mark(char mark);
  bool take(char mark) {
    if (peek() != mark) return false;
    ++at_;
    return true;
  }
  [[nodiscard]] bool take_word(std::string_view word);
  [[nodiscard]] bool escape(std::string& text);
  [[nodiscard]] std::optional<unsigned> code_unit();

  std::string_view text_;
  std::string_view source_;
  std::size_t at_ = 0;
  std::size_t depth_ = 0;
  std::optional<ServeError> failure_ = std::nullopt;
};

}  // namespace berth::serving::protocol::detail
