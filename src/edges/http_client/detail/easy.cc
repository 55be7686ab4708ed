#include "edges/http_client/detail/easy.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/core/text.h"

namespace berth::edges::detail {
namespace {

bool add_line(HeaderList& list, const char* line) {
  curl_slist* shorter = list.release();
  curl_slist* longer = curl_slist_append(shorter, line);
  list.reset(longer == nullptr ? shorter : longer);
  return longer != nullptr;
}

}  // namespace

bool is_header_text(std::string_view text) {
  return std::ranges::none_of(text, [](char c) { return c == '\r' || c == '\n' || c == '\0'; });
}

void set_common_options(CURL* easy) {
#if LIBCURL_VERSION_NUM >= 0x075500
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
#else
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS, static_cast<long>(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
}

Result<HeaderList> header_list(std::span<const HttpField> headers) { return header_list(headers, {}); }

Result<HeaderList> header_list(std::span<const HttpField> headers, std::span<const char* const> lines) {
  HeaderList list(nullptr, &curl_slist_free_all);
  for (const HttpField& field : headers) {
    if (field.name.empty() || !is_header_text(field.name) || !is_header_text(field.value)) {
      return invalid(fmt::format("wanted a header, found {}: {}", in_quotes(field.name), in_quotes(field.value)));
    }
    // libcurl takes "Name:" for a header to leave out and "Name;" for an empty one.
    const std::string line = field.value.empty() ? field.name + ";" : field.name + ": " + field.value;
    if (!add_line(list, line.c_str())) return pass_on(no_memory());
  }
  // Otherwise libcurl labels every body as a form.
  if (!find_header(headers, "Content-Type") && !add_line(list, "Content-Type:")) return pass_on(no_memory());
  for (const char* line : lines) {
    if (!add_line(list, line)) return pass_on(no_memory());
  }
  return list;
}

Result<void> check_method(std::string_view method) {
  if (!method.empty() && std::ranges::all_of(method, [](char c) { return c >= 'A' && c <= 'Z'; })) return {};
  return invalid(fmt::format("wanted a method such as GET, found {}", in_quotes(method)));
}

std::optional<HttpField> field_in(std::string_view line) {
  while (line.ends_with('\n') || line.ends_with('\r')) line.remove_suffix(1);
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const std::size_t value = std::min(line.find_first_not_of(" \t", colon + 1), line.size());
  return HttpField{std::string(line.substr(0, colon)), std::string(line.substr(value))};
}

std::optional<int> status_in(CURL* easy, std::string_view line) {
  if (!line.starts_with("HTTP/")) return std::nullopt;
  long status = 0;
  curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
  return static_cast<int>(status);
}

long to_ms(Micros time) { return static_cast<long>((time.count() + 999) / 1000); }

Error no_memory() { return {ErrorCode::kUnavailable, "no memory for an HTTP request"}; }

Error error_of(CURLcode code, std::string_view url, Micros timeout) {
  const auto with = [&](ErrorCode kind, std::string_view what) {
    return Error{kind, fmt::format("{}: {}", url, what)};
  };
  switch (code) {
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_CONNECT:
      return with(ErrorCode::kNoServer, fmt::format("no server answers: {}", curl_easy_strerror(code)));
    case CURLE_OPERATION_TIMEDOUT:
      return with(ErrorCode::kTimedOut, fmt::format("no answer within {} s", timeout.to_seconds()));
    case CURLE_URL_MALFORMAT:
      return with(ErrorCode::kInvalidInput, "wanted a URL of http or https");
    case CURLE_UNSUPPORTED_PROTOCOL:
      return with(ErrorCode::kUnavailable, "wanted an answer in HTTP/1.0 or later, found something else");
    default:
      return with(ErrorCode::kUnavailable, fmt::format("the request failed: {}", curl_easy_strerror(code)));
  }
}

}  // namespace berth::edges::detail
