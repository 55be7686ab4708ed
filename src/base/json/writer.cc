#include "base/json/writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/core/ensure.h"

namespace berth::json {
namespace {

bool needs_no_escape(char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; }

}  // namespace

Writer& Writer::key(std::string_view key) {
  value(key);
  bytes_ += indent_ == kCompact ? ":" : ": ";
  is_after_key_ = true;
  return *this;
}

Writer& Writer::value(std::string_view text) {
  if (!std::ranges::all_of(text, needs_no_escape)) {
    return token(nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  }
  separate();
  bytes_.append(1, '"').append(text).append(1, '"');
  return *this;
}

Writer& Writer::value(double number) { return token(nlohmann::json(number).dump()); }

Writer& Writer::value(const Decimal& number) {
  const std::string text = number.to_string();
  return text.find('/') == std::string::npos ? token(text) : value(number.to_double());
}

Writer& Writer::value(Int128 number) {
  separate();
  fmt::format_to(std::back_inserter(bytes_), "{}", number);
  return *this;
}

std::string Writer::take() {
  ENSURE(depth_ == 0 && !is_after_key_);
  is_first_ = true;
  return std::exchange(bytes_, {});
}

std::string Writer::take_line() { return take() + "\n"; }

Writer& Writer::open(char bracket) {
  separate();
  bytes_ += bracket;
  ++depth_;
  is_first_ = true;
  return *this;
}

Writer& Writer::close(char bracket) {
  ENSURE(depth_ > 0 && !is_after_key_);
  --depth_;
  if (!is_first_) break_line();
  bytes_ += bracket;
  is_first_ = false;
  return *this;
}

Writer& Writer::token(std::string_view token) {
  separate();
  bytes_ += token;
  return *this;
}

void Writer::separate() {
  if (is_after_key_) {
    is_after_key_ = false;
    return;
  }
  if (!is_first_) bytes_ += ',';
  if (depth_ > 0) break_line();
  is_first_ = false;
}

void Writer::break_line() {
  if (indent_ == kCompact) return;
  bytes_ += '\n';
  bytes_.append(depth_ * static_cast<std::size_t>(indent_), ' ');
}

}  // namespace berth::json
