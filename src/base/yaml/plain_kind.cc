#include "base/yaml/plain_kind.h"

#include <algorithm>
#include <array>
#include <string>

namespace berth::yaml {
namespace {

bool is_digit(char c) { return '0' <= c && c <= '9'; }

/// Whether a text is one or more digits of a base, with underscores between them.
bool has_only_digits(std::string_view text, std::string_view digits) {
  const auto is_part = [&](char c) { return c == '_' || digits.find(c) != std::string_view::npos; };
  return !text.empty() && text.front() != '_' && std::ranges::all_of(text, is_part);
}

/// Removes digits and underscores from the front; returns whether there was a digit.
bool take_digits(std::string_view& text) {
  const auto end = std::ranges::find_if_not(text, [](char c) { return c == '_' || is_digit(c); });
  const auto count = static_cast<std::size_t>(end - text.begin());
  const bool has_digit = std::ranges::any_of(text.substr(0, count), is_digit);
  text.remove_prefix(count);
  return has_digit;
}

/// "190:20:30": minutes and seconds below 60.
bool is_sexagesimal(std::string_view text) {
  if (text.empty() || !is_digit(text.front()) || !take_digits(text) || text.empty()) return false;
  while (!text.empty() && text.front() == ':') {
    text.remove_prefix(1);
    const std::size_t count = text.size() > 1 && is_digit(text[1]) ? 2 : 1;
    if (text.empty() || !is_digit(text[0]) || (count == 2 && text[0] > '5')) return false;
    text.remove_prefix(count);
  }
  if (!text.empty() && text.front() == '.') {
    text.remove_prefix(1);
    take_digits(text);
  }
  return text.empty();
}

/// "12", "1_000.5", ".5", "1e3".
bool is_decimal(std::string_view text) {
  if (text.empty() || text.front() == '_') return false;
  bool has_digit = take_digits(text);
  if (!text.empty() && text.front() == '.') {
    text.remove_prefix(1);
    has_digit = take_digits(text) || has_digit;
  }
  if (!has_digit || text.empty()) return has_digit;
  if (text.front() != 'e') return false;
  text.remove_prefix(1);
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) text.remove_prefix(1);
  return has_only_digits(text, "0123456789");
}

/// `text` in lower case.
bool is_number(std::string_view text) {
  if (text == ".nan") return true;
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) text.remove_prefix(1);
  if (text == ".inf" || is_decimal(text) || is_sexagesimal(text)) return true;
  const std::string_view prefix = text.substr(0, 2);
  const std::string_view rest = text.substr(prefix.size());
  if (prefix == "0x") return has_only_digits(rest, "0123456789abcdef");
  if (prefix == "0o") return has_only_digits(rest, "01234567");
  return prefix == "0b" && has_only_digits(rest, "01");
}

}  // namespace

PlainKind kind_of_plain(std::string_view text) {
  constexpr std::array<std::string_view, 6> kTruths = {"true", "false", "yes", "no", "on", "off"};
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(),
                         [](char c) { return 'A' <= c && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  if (lower.empty() || lower == "~" || lower == "null") return PlainKind::kNull;
  if (std::ranges::find(kTruths, lower) != kTruths.end()) return PlainKind::kTruth;
  return is_number(lower) ? PlainKind::kNumber : PlainKind::kText;
}

}  // namespace berth::yaml
