#include "edges/http_server/detail/head_bytes.h"

#include <algorithm>
#include <functional>

namespace berth::edges::detail {
namespace {

constexpr char kEnd = '\0';
// A carriage return and a line feed, or a line feed alone.
constexpr std::size_t kLineEndMin = 1;
constexpr std::size_t kLineEndMax = 2;

bool are_ends(std::string_view bytes) {
  return std::ranges::all_of(bytes, [](char each) { return each == kEnd; });
}

/// What ends a text, then spaces.
bool is_gap(std::string_view bytes) {
  return bytes.starts_with(kEnd) &&
         std::ranges::all_of(bytes.substr(1), [](char each) { return each == ' ' || each == '\t'; });
}

}  // namespace

HeadBytes::HeadBytes(std::string_view buffer)
    : at_(buffer.data() + std::min(buffer.find(kEnd), buffer.size())), end_(buffer.data() + buffer.size()) {}

std::string_view HeadBytes::take(std::string_view text) {
  // A text may lie in other memory, where only this order is defined.
  constexpr std::less_equal<> kNotAfter;
  const bool is_ahead = kNotAfter(at_, text.data()) && kNotAfter(text.data(), end_) &&
                        text.size() <= static_cast<std::size_t>(end_ - text.data());
  if (!is_ahead) return {};
  const std::string_view before(at_, static_cast<std::size_t>(text.data() - at_));
  at_ = text.data() + text.size();
  return before;
}

void HeadBytes::take_target(std::string_view text) { is_whole_ = is_gap(take(text)) && is_whole_; }

void HeadBytes::take_version(std::string_view text) { is_whole_ = take(text).size() == 1 && is_whole_; }

void HeadBytes::take_line(std::string_view text) {
  const std::string_view before = take(text);
  is_whole_ = is_whole_ && are_ends(before) && before.size() >= kLineEndMin && before.size() <= kLineEndMax;
}

void HeadBytes::take_header(std::string_view name, std::string_view value) {
  take_line(name);
  is_whole_ = is_gap(take(value)) && is_whole_;
}

bool HeadBytes::is_whole() const {
  const std::string_view rest(at_, static_cast<std::size_t>(end_ - at_));
  return is_whole_ && are_ends(rest) && rest.size() >= 2 * kLineEndMin && rest.size() <= 2 * kLineEndMax;
}

bool has_head_bytes() {
  static const bool kHas = std::string_view(MHD_get_version()).starts_with("0.");
  return kHas;
}

}  // namespace berth::edges::detail
