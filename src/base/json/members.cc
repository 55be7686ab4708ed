#include "base/json/members.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>

#include "base/json/document.h"
#include "base/json/tree.h"

namespace berth::json {
namespace {

constexpr std::size_t kBracketDepthMax = 10'000;
constexpr std::string_view kSpace = " \t\r\n";

/// Reads on from a place in a text.
class MemberScanner {
 public:
  explicit MemberScanner(std::string_view text) : text_(text) {}

  [[nodiscard]] std::size_t place() const { return at_; }
  [[nodiscard]] std::string_view from(std::size_t begin) const { return text_.substr(begin, at_ - begin); }
  [[nodiscard]] bool is_at_end() const { return at_ == text_.size(); }
  void skip_space() { at_ = std::min(text_.find_first_not_of(kSpace, at_), text_.size()); }
  /// Goes over the byte if it is the next.
  [[nodiscard]] bool take(char byte) {
    const bool is_next = at_ < text_.size() && text_[at_] == byte;
    if (is_next) ++at_;
    return is_next;
  }
  [[nodiscard]] bool skip_string() {
    if (!take('"')) return false;
    while (true) {
      at_ = text_.find_first_of("\"\\", at_);
      if (at_ >= text_.size()) return end();
      if (text_[at_++] == '"') return true;
      if (at_ >= text_.size()) return end();
      ++at_;
    }
  }
  [[nodiscard]] bool skip_value() {
    if (at_ >= text_.size()) return false;
    if (text_[at_] == '"') return skip_string();
    if (text_[at_] == '{' || text_[at_] == '[') return skip_brackets();
    const std::size_t begin = at_;
    at_ = std::min(text_.find_first_of(" \t\r\n,:{}[]\"", at_), text_.size());
    return at_ > begin;
  }

 private:
  bool end() {
    at_ = text_.size();
    return false;
  }
  bool skip_brackets() {
    std::string expected;  // what closes the open ones
    do {
      at_ = text_.find_first_of("\"{}[]", at_);
      if (at_ >= text_.size()) return end();
      const char byte = text_[at_];
      if (byte == '"') {
        if (!skip_string()) return false;
        continue;
      }
      ++at_;
      if (byte == '{' || byte == '[') {
        if (expected.size() == kBracketDepthMax) return false;
        expected.push_back(byte == '{' ? '}' : ']');
      } else {
        if (expected.back() != byte) return false;
        expected.pop_back();
      }
    } while (!expected.empty());
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

tl::unexpected<Error> not_an_object(const MemberScanner& at, std::string_view wanted) {
  return fail(ErrorCode::kMalformed, fmt::format("wanted a JSON object: {} at byte {}", wanted, at.place()));
}

/// The text of a string in its quotes; nothing if it is not one.
std::optional<std::string> decoded(std::string_view quoted) {
  if (quoted.find('\\') == std::string_view::npos) return std::string(quoted.substr(1, quoted.size() - 2));
  const auto node = parse_document(quoted, "key");
  const std::string* text = node ? text_in(*node) : nullptr;
  return text == nullptr ? std::nullopt : std::optional(*text);
}

}  // namespace

Result<std::vector<std::string_view>> find_members(std::string_view text, std::span<const std::string_view> keys) {
  std::vector<std::string_view> found(keys.size());
  MemberScanner scanner(text);
  scanner.skip_space();
  if (!scanner.take('{')) return not_an_object(scanner, "wanted {");
  scanner.skip_space();
  bool is_closed = scanner.take('}');
  while (!is_closed) {
    scanner.skip_space();
    const std::size_t key_begin = scanner.place();
    if (!scanner.skip_string()) return not_an_object(scanner, "wanted a key in quotes");
    const auto key = decoded(scanner.from(key_begin));
    if (!key) return not_an_object(scanner, "wanted a key");
    scanner.skip_space();
    if (!scanner.take(':')) return not_an_object(scanner, "wanted :");
    scanner.skip_space();
    const std::size_t value_begin = scanner.place();
    if (!scanner.skip_value()) return not_an_object(scanner, "wanted a value");
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (keys[i] != *key) continue;
      if (!found[i].empty()) return not_an_object(scanner, fmt::format("{} is repeated", *key));
      found[i] = scanner.from(value_begin);
    }
    scanner.skip_space();
    is_closed = scanner.take('}');
    if (!is_closed && !scanner.take(',')) return not_an_object(scanner, "wanted , or }");
  }
  scanner.skip_space();
  if (!scanner.is_at_end()) return not_an_object(scanner, "wanted its end");
  return found;
}

}  // namespace berth::json
