#include "serving/protocol/detail/json_reader.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstdint>
#include <system_error>
#include <utility>

#include "base/core/ensure.h"
#include "base/core/text.h"

namespace berth::serving::protocol::detail {
namespace {

constexpr std::size_t kFoundBytesMax = 24;

/// Adds a character. Requires: it is one of Unicode, and no half of a pair.
void append_character(std::string& text, unsigned code) {
  const auto add = [&](unsigned byte) { text += static_cast<char>(byte); };
  const auto add_rest = [&](unsigned shift) { add(0x80U | ((code >> shift) & 0x3FU)); };
  if (code < 0x80) {
    add(code);
  } else if (code < 0x800) {
    add(0xC0U | (code >> 6U));
    add_rest(0);
  } else if (code < 0x10000) {
    add(0xE0U | (code >> 12U));
    add_rest(6);
    add_rest(0);
  } else {
    add(0xF0U | (code >> 18U));
    add_rest(12);
    add_rest(6);
    add_rest(0);
  }
}

bool is_high_half(unsigned code) { return code >= 0xD800 && code < 0xDC00; }
bool is_low_half(unsigned code) { return code >= 0xDC00 && code < 0xE000; }

/// How many bytes of a text need no thought: neither quote, backslash, control character nor anything beyond ASCII.
std::size_t plain_bytes(std::string_view text) {
  std::size_t count = 0;
  while (count < text.size()) {
    const auto byte = static_cast<unsigned char>(text[count]);
    if (byte < 0x20 || byte >= 0x80 || byte == '"' || byte == '\\') break;
    ++count;
  }
  return count;
}

/// How many bytes from the front belong to characters beyond ASCII.
std::size_t beyond_ascii_bytes(std::string_view text) {
  std::size_t count = 0;
  while (count < text.size() && static_cast<unsigned char>(text[count]) >= 0x80) ++count;
  return count;
}

}  // namespace

bool JsonReader::open(char bracket, std::string_view what) {
  if (!take(bracket)) return fail(what);
  if (++depth_ > kJsonDepthMax) {
    return refuse(ServeFault::kMalformed, fmt::format("{}, byte {}: wanted at most {} levels of nesting, found more",
                                                      source_, at_, kJsonDepthMax));
  }
  return true;
}

bool JsonReader::close(char bracket) {
  --depth_;
  if (take(bracket)) return true;
  return fail(bracket == '}' ? "a comma or }" : "a comma or ]");
}

bool JsonReader::mark(char mark) { return take(mark) || fail(std::string_view(&mark, 1)); }

bool JsonReader::text(std::string& text) {
  if (!take('"')) return fail("a text in quotes");
  text.clear();
  while (true) {
    const std::size_t plain = plain_bytes(text_.substr(at_));
    text.append(text_, at_, plain);
    at_ += plain;
    if (at_ == text_.size()) return fail("a closing quote");
    const auto byte = static_cast<unsigned char>(text_[at_]);
    if (byte == '"') break;
    if (byte < 0x20) return fail("an escape in place of a control character");
    if (byte == '\\') {
      if (!escape(text)) return false;
      continue;
    }
    const std::string_view beyond = text_.substr(at_, beyond_ascii_bytes(text_.substr(at_)));
    if (const std::size_t bad = find_bad_utf8(beyond); bad != std::string_view::npos) {
      at_ += bad;
      return fail("UTF-8");
    }
    text += beyond;
    at_ += beyond.size();
  }
  ++at_;
  return true;
}

bool JsonReader::escape(std::string& text) {
  constexpr std::string_view kEscapes = "\"\\/bfnrtu";
  constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
  const std::size_t begin = at_;
  ++at_;
  const std::size_t kind = at_ < text_.size() ? kEscapes.find(text_[at_]) : std::string_view::npos;
  if (kind == std::string_view::npos) return fail("an escape of JSON");
  ++at_;
  if (kind < kMeanings.size()) {
    text += kMeanings[kind];
    return true;
  }
  const auto first = code_unit();
  if (!first) return fail("four hexadecimal digits");
  if (!is_high_half(*first) && !is_low_half(*first)) {
    append_character(text, *first);
    return true;
  }
  const bool has_other = is_high_half(*first) && text_.substr(at_, 2) == "\\u";
  if (has_other) at_ += 2;
  const auto second = has_other ? code_unit() : std::nullopt;
  if (!second || !is_low_half(*second)) {
    at_ = begin;
    return fail("both halves of a surrogate pair");
  }
  append_character(text, 0x10000U + ((*first - 0xD800U) << 10U) + (*second - 0xDC00U));
  return true;
}

std::optional<unsigned> JsonReader::code_unit() {
  constexpr std::size_t kDigits = 4;
  const std::string_view digits = text_.substr(at_, kDigits);
  unsigned code = 0;
  const char* const end = digits.data() + digits.size();
  const auto [rest, error] = std::from_chars(digits.data(), end, code, 16);
  if (digits.size() < kDigits || error != std::errc() || rest != end) return std::nullopt;
  at_ += kDigits;
  return code;
}

bool JsonReader::number(JsonNumber& number) {
  static_cast<void>(peek());
  if (!scan_number(text_.substr(at_), number)) return fail("a number");
  at_ += number.text.size();
  return true;
}

bool JsonReader::truth(bool& truth) {
  truth = peek() == 't';
  return take_word(truth ? "true" : "false") || fail("true or false");
}

bool JsonReader::take_null() { return peek() == 'n' && take_word("null"); }

bool JsonReader::take_word(std::string_view word) {
  if (text_.substr(at_, word.size()) != word) return false;
  at_ += word.size();
  return true;
}

bool JsonReader::skip() {
  std::string ignored_text;
  JsonNumber ignored_number;
  bool ignored_truth = false;
  switch (peek()) {
    case '{':
      return object([this](const std::string& /*key*/) { return skip(); });
    case '[':
      return list([this] { return skip(); });
    case '"':
      return text(ignored_text);
    case 't':
    case 'f':
      return truth(ignored_truth);
    case 'n':
      return take_null() || fail("null");
    default:
      return number(ignored_number);
  }
}

bool JsonReader::end() {
  static_cast<void>(peek());
  return at_ == text_.size() || fail("the end of the JSON");
}

bool JsonReader::fail(std::string_view wanted) {
  if (failure_) return false;
  const std::string_view rest = text_.substr(at_);
  const std::string shown = rest.empty() ? "the end" : in_quotes(rest.substr(0, kFoundBytesMax));
  // Python and JavaScript write these, though no JSON has them.
  const bool is_no_number = rest.starts_with("NaN") || rest.starts_with("Infinity") || rest.starts_with("-Infinity");
  return refuse(ServeFault::kMalformed,
                fmt::format("{}, byte {}: wanted {}, found {}{}", source_, at_, wanted, shown,
                            is_no_number ? " (JSON has no such number: send the tensor as binary data)" : ""));
}

bool JsonReader::refuse(ServeFault fault, std::string message) {
  if (!failure_) failure_ = ServeError{.fault = fault, .message = std::move(message)};
  return false;
}

ServeError JsonReader::failure() const {
  ENSURE(failure_.has_value());
  return *failure_;
}

}  // namespace berth::serving::protocol::detail
