#include "domain/tracing/trace_context.h"

#include <algorithm>
#include <cstddef>

namespace berth {
namespace {

constexpr std::size_t kVersionSize = 2;
constexpr std::size_t kSize = 55;  // "00-" 32 "-" 16 "-" 2
constexpr std::size_t kStateBytesMax = 512;
constexpr std::ptrdiff_t kStateMembersMax = 32;
constexpr std::uint8_t kSampledFlag = 1;

/// The value of a lower-case digit; 16: it is none.
std::uint8_t digit_of(char c) {
  if (c >= '0' && c <= '9') return static_cast<std::uint8_t>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<std::uint8_t>(c - 'a' + 10);
  return 16;
}

/// Reads two digits for each byte. Returns whether all are digits.
bool read_hex(std::string_view text, std::span<std::uint8_t> bytes) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const std::uint8_t high = digit_of(text[2 * i]);
    const std::uint8_t low = digit_of(text[2 * i + 1]);
    if (high > 15 || low > 15) return false;
    bytes[i] = static_cast<std::uint8_t>(high << 4 | low);
  }
  return true;
}

bool is_zero(std::span<const std::uint8_t> bytes) {
  return std::ranges::all_of(bytes, [](std::uint8_t byte) { return byte == 0; });
}

std::string write_hex(std::span<const std::uint8_t> bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const std::uint8_t byte : bytes) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

}  // namespace

std::string hex_of(const TraceId& id) { return write_hex(id.bytes); }
std::string hex_of(const SpanId& id) { return write_hex(id.bytes); }

std::optional<TraceContext> parse_traceparent(std::string_view text) {
  if (text.size() < kSize || text[2] != '-' || text[35] != '-' || text[52] != '-') return std::nullopt;
  std::array<std::uint8_t, 1> version{};
  std::array<std::uint8_t, 1> flags{};
  TraceContext context;
  const bool is_hex = read_hex(text.substr(0, kVersionSize), version) &&
                      read_hex(text.substr(3), context.trace.bytes) && read_hex(text.substr(36), context.span.bytes) &&
                      read_hex(text.substr(53), flags);
  if (!is_hex || version[0] == 0xff) return std::nullopt;
  if (is_zero(context.trace.bytes) || is_zero(context.span.bytes)) return std::nullopt;
  const bool has_more = text.size() > kSize;
  if (has_more && (version[0] == 0 || text[kSize] != '-')) return std::nullopt;
  context.is_sampled = (flags[0] & kSampledFlag) != 0;
  return context;
}

std::string traceparent_of(const TraceContext& context) {
  return "00-" + hex_of(context.trace) + "-" + hex_of(context.span) + (context.is_sampled ? "-01" : "-00");
}

std::string passed_tracestate(std::string_view text) {
  const auto is_printable = [](char c) { return (c >= ' ' && c <= '~') || c == '\t'; };
  const bool fits = text.size() <= kStateBytesMax && std::ranges::count(text, ',') < kStateMembersMax;
  return fits && std::ranges::all_of(text, is_printable) ? std::string(text) : std::string();
}

std::optional<TraceContext> trace_context_of(std::span<const HttpField> headers) {
  std::optional<TraceContext> context;
  std::string state;
  bool is_repeated = false;
  for (const HttpField& field : headers) {
    if (is_same_header(field.name, "traceparent")) {
      if (is_repeated) return std::nullopt;
      is_repeated = true;
      context = parse_traceparent(field.value);
    } else if (is_same_header(field.name, "tracestate")) {
      if (!state.empty()) state += ',';
      state += field.value;
    }
  }
  if (context) context->state = passed_tracestate(state);
  return context;
}

}  // namespace berth
