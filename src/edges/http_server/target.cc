#include "edges/http_server/target.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "base/core/text.h"

namespace berth::edges {
namespace {

enum class PlusMeans { kPlus, kSpace };

/// Whether a byte is forbidden in a target, encoded or not. Bytes of UTF-8 are tolerated.
bool is_forbidden(char byte) {
  const auto code = static_cast<unsigned char>(byte);
  return code <= ' ' || code == 0x7f || byte == '#';
}

std::optional<unsigned> hex_digit(char digit) {
  if (digit >= '0' && digit <= '9') return static_cast<unsigned>(digit - '0');
  if (digit >= 'a' && digit <= 'f') return static_cast<unsigned>(digit - 'a' + 10);
  if (digit >= 'A' && digit <= 'F') return static_cast<unsigned>(digit - 'A' + 10);
  return std::nullopt;
}

/// The byte encoded after a "%"; nothing if two hexadecimal digits do not follow.
std::optional<char> escaped_byte(std::string_view text, std::size_t percent) {
  if (percent + 2 >= text.size()) return std::nullopt;
  const auto high = hex_digit(text[percent + 1]);
  const auto low = hex_digit(text[percent + 2]);
  if (!high || !low) return std::nullopt;
  return static_cast<char>(static_cast<unsigned char>(*high * 16 + *low));
}

Result<std::string> decode(std::string_view text, PlusMeans plus) {
  std::string decoded;
  decoded.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '%') {
      const auto byte = escaped_byte(text, at);
      if (!byte) return invalid(fmt::format("wanted two hexadecimal digits after %, found {}", in_quotes(text)));
      decoded += *byte;
      at += 2;
    } else {
      decoded += text[at] == '+' && plus == PlusMeans::kSpace ? ' ' : text[at];
    }
  }
  if (find_bad_utf8(decoded) != std::string_view::npos) {
    return invalid(fmt::format("wanted UTF-8 without NUL in the target, found {}", in_quotes(text)));
  }
  return decoded;
}

/// The text up to the separator; what follows the separator is left in `rest`, or nothing if there is none.
std::string_view take_until(char separator, std::optional<std::string_view>& rest) {
  const std::string_view text = *rest;
  const std::size_t end = text.find(separator);
  rest = end == std::string_view::npos ? std::nullopt : std::optional(text.substr(end + 1));
  return text.substr(0, end);
}

Result<std::vector<std::string>> parse_path(std::string_view path) {
  std::vector<std::string> segments;
  if (path == "/") return segments;
  std::optional<std::string_view> rest = path.substr(1);
  while (rest) {
    auto segment = decode(take_until('/', rest), PlusMeans::kPlus);
    if (!segment) return pass_on(segment.error());
    segments.push_back(*std::move(segment));
  }
  return segments;
}

Result<HttpField> parse_pair(std::string_view pair) {
  const std::size_t equals = pair.find('=');
  auto name = decode(pair.substr(0, equals), PlusMeans::kSpace);
  if (!name) return pass_on(name.error());
  if (name->empty()) return invalid(fmt::format("wanted a name in the query, found {}", in_quotes(pair)));
  if (equals == std::string_view::npos) return HttpField{*std::move(name), ""};
  auto value = decode(pair.substr(equals + 1), PlusMeans::kSpace);
  if (!value) return pass_on(value.error());
  return HttpField{*std::move(name), *std::move(value)};
}

Result<std::vector<HttpField>> parse_query(std::optional<std::string_view> query) {
  std::vector<HttpField> pairs;
  while (query) {
    const std::string_view text = take_until('&', query);
    if (text.empty()) continue;
    auto pair = parse_pair(text);
    if (!pair) return pass_on(pair.error());
    pairs.push_back(*std::move(pair));
  }
  return pairs;
}

/// "http://host:port/path" without the part before the path.
std::string_view without_origin(std::string_view target) {
  constexpr std::string_view kScheme = "http://";
  if (target.size() <= kScheme.size() || !is_same_header(target.substr(0, kScheme.size()), kScheme)) return target;
  target.remove_prefix(kScheme.size());
  return target.substr(std::min(target.find_first_of("/?"), target.size()));
}

}  // namespace

Result<Target> parse_target(std::string_view target) {
  if (std::ranges::any_of(target, is_forbidden)) {
    return invalid(
        fmt::format("wanted a target without spaces, control characters and #, found {}", in_quotes(target)));
  }
  const std::string_view local = without_origin(target);
  const bool has_origin = local.size() != target.size();
  std::optional<std::string_view> query = local;
  const std::string_view found = take_until('?', query);
  const std::string_view path = found.empty() && has_origin ? "/" : found;
  if (!path.starts_with('/')) {
    return invalid(fmt::format("wanted a target that begins with /, found {}", in_quotes(target)));
  }
  auto segments = parse_path(path);
  if (!segments) return pass_on(segments.error());
  auto pairs = parse_query(query);
  if (!pairs) return pass_on(pairs.error());
  return Target{*std::move(segments), *std::move(pairs)};
}

}  // namespace berth::edges
