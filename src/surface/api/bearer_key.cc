#include "surface/api/bearer_key.h"

#include <fmt/format.h>

#include <algorithm>

namespace berth::api {
namespace {

/// Whether a text equals this lower-case word, ignoring case.
bool is_same_word(std::string_view text, std::string_view word) {
  return std::ranges::equal(text, word, [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a - 'A' + 'a' : a) == b; });
}

}  // namespace

std::optional<std::string_view> bearer_of(const HttpRequest& request) {
  constexpr std::string_view kScheme = "bearer ";  // case-insensitive: RFC 9110, 11.1
  const auto header = find_header(request.headers, "Authorization");
  if (!header || !is_same_word(header->substr(0, kScheme.size()), kScheme)) return std::nullopt;
  return header->substr(kScheme.size());
}

ApiError no_key_error(std::string_view file) {
  return {.status = 401,
          .code = "unauthorized",
          .message = fmt::format("wanted the header Authorization: Bearer KEY with the text of {}", file)};
}

}  // namespace berth::api
