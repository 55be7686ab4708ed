#include "surface/openai_api/detail/forwarded_headers.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace berth::openai::detail {
namespace {

constexpr std::array<std::string_view, 9> kOfConnection = {
    "Connection",        "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization", "Proxy-Connection", "TE", "Trailer",
    "Transfer-Encoding", "Upgrade"};
constexpr std::array<std::string_view, 8> kNotToBackend = {"Host",   "Content-Length",  "Authorization", "api-key",
                                                           "Expect", "Accept-Encoding", "x-api-key",     "Cookie"};
constexpr std::array<std::string_view, 3> kNotToClient = {"Content-Length", "Content-Type", "Date"};

bool is_among(std::string_view name, std::span<const std::string_view> names) {
  return std::ranges::any_of(names, [&](std::string_view each) { return is_same_header(each, name); });
}

/// Whether a field "Connection" names the header.
bool is_named_by_connection(std::string_view name, std::span<const HttpField> headers) {
  for (const HttpField& field : headers) {
    if (!is_same_header(field.name, "Connection")) continue;
    std::string_view rest = field.value;
    while (!rest.empty()) {
      std::string_view item = rest.substr(0, rest.find(','));
      rest.remove_prefix(std::min(item.size() + 1, rest.size()));
      while (item.starts_with(' ')) item.remove_prefix(1);
      while (item.ends_with(' ')) item.remove_suffix(1);
      if (is_same_header(item, name)) return true;
    }
  }
  return false;
}

bool is_sendable(const HttpField& field) {
  constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  const bool is_name = !field.name.empty() && std::ranges::all_of(field.name, [&](char byte) {
    return (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') || (byte >= 'a' && byte <= 'z') ||
           kMarks.find(byte) != std::string_view::npos;
  });
  return is_name && std::ranges::all_of(
                        field.value, [](unsigned char byte) { return byte == '\t' || (byte >= ' ' && byte != 0x7f); });
}

std::vector<HttpField> passing(std::span<const HttpField> headers, std::span<const std::string_view> others) {
  std::vector<HttpField> passed;
  for (const HttpField& field : headers) {
    if (is_among(field.name, kOfConnection) || is_among(field.name, others)) continue;
    if (is_named_by_connection(field.name, headers) || !is_sendable(field)) continue;
    passed.push_back(field);
  }
  return passed;
}

}  // namespace

std::vector<HttpField> headers_to_backend(std::span<const HttpField> headers, const std::optional<std::string>& key) {
  std::vector<HttpField> passed = passing(headers, kNotToBackend);
  if (key) passed.push_back({"Authorization", "Bearer " + *key});
  return passed;
}

void put_trace(std::vector<HttpField>& headers, const TraceContext& context) {
  std::erase_if(headers, [](const HttpField& field) {
    return is_same_header(field.name, "traceparent") || is_same_header(field.name, "tracestate");
  });
  headers.push_back({"traceparent", traceparent_of(context)});
  if (!context.state.empty()) headers.push_back({"tracestate", context.state});
}

std::vector<HttpField> headers_to_client(std::span<const HttpField> headers) { return passing(headers, kNotToClient); }

}  // namespace berth::openai::detail
