#include "edges/http_server/detail/header_rules.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/core/text.h"

namespace berth::edges::detail {
namespace {

bool is_token_char(char byte) {
  if ((byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') || (byte >= 'a' && byte <= 'z')) return true;
  constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  return kMarks.find(byte) != std::string_view::npos;
}

bool is_value_char(char byte) {
  const auto code = static_cast<unsigned char>(byte);
  return byte == '\t' || (code >= ' ' && code != 0x7f);
}

std::ptrdiff_t count_headers(std::span<const HttpField> headers, std::string_view name) {
  return std::ranges::count_if(headers, [&](const HttpField& each) { return is_same_header(each.name, name); });
}

}  // namespace

bool is_token(std::string_view text) { return !text.empty() && std::ranges::all_of(text, is_token_char); }

bool is_header_value(std::string_view text) { return std::ranges::all_of(text, is_value_char); }

std::optional<std::string> find_header_fault(std::span<const HttpField> headers, HttpVersion version) {
  for (const HttpField& field : headers) {
    if (!is_token(field.name)) return fmt::format("wanted the name of a header, found {}", in_quotes(field.name));
    if (!is_header_value(field.value)) {
      return fmt::format("wanted a value of {} without control characters, found {}", field.name,
                         in_quotes(field.value));
    }
  }
  const auto host_count = count_headers(headers, "Host");
  if (host_count > 1) return fmt::format("wanted one Host, found {}", host_count);
  if (host_count == 0 && version == HttpVersion::kOneDotOne) return "wanted a Host, found none";
  return std::nullopt;
}

std::optional<std::string> find_framing_fault(std::span<const HttpField> headers, HttpVersion version) {
  const auto length_count = count_headers(headers, "Content-Length");
  if (length_count > 1) return fmt::format("wanted one Content-Length, found {}", length_count);
  const auto coding = find_header(headers, "Transfer-Encoding");
  if (!coding) return std::nullopt;
  if (length_count > 0) return "wanted Content-Length or Transfer-Encoding, found both";
  if (count_headers(headers, "Transfer-Encoding") > 1 || !is_same_header(*coding, "chunked")) {
    return fmt::format("wanted the Transfer-Encoding chunked, found {}", in_quotes(*coding));
  }
  if (version == HttpVersion::kOld) return "wanted no Transfer-Encoding in HTTP/1.0";
  return std::nullopt;
}

}  // namespace berth::edges::detail
