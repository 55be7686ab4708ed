#include "surface/api/request_body.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

#include "base/core/control_text.h"
#include "base/json/document.h"

namespace berth::api {
namespace {

constexpr std::string_view kJsonType = "application/json";
constexpr std::size_t kReasonCharactersMax = 500;

/// "application/json" of "Application/JSON; charset=utf-8".
std::string media_type(std::string_view header) {
  std::string type(header.substr(0, header.find(';')));
  type.erase(type.find_last_not_of(" \t") + 1);
  std::ranges::transform(type, type.begin(),
                         [](char c) { return 'A' <= c && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return type;
}

bool is_first_byte(char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }

ApiResult<std::string> reason_of(const HttpRequest& request, bool is_required) {
  const auto tree = parse_body(request);
  if (!tree) return tl::unexpected(tree.error());
  yaml::Report report("body");
  const yaml::Value root(*tree, report);
  root.check_keys({"reason"});
  const yaml::Value reason = root.at("reason");
  std::string text = is_required || reason.is_present() ? read_reason(reason) : "";
  if (report.has_failed()) return tl::unexpected(error_of(report.parts()));
  return text;
}

}  // namespace

ApiResult<yaml::Node> parse_body(const HttpRequest& request) {
  const auto type = find_header(request.headers, "Content-Type");
  if (!type || media_type(*type) != kJsonType) {
    return tl::unexpected(ApiError{.status = 415,
                                   .code = "unsupported_media_type",
                                   .message = "wanted a body of the type application/json",
                                   .wanted = std::string(kJsonType),
                                   .found = type ? std::optional(std::string(*type)) : std::nullopt});
  }
  const auto encoding = find_header(request.headers, "Content-Encoding");
  if (encoding && media_type(*encoding) != "identity") {
    return tl::unexpected(ApiError{.status = 415,
                                   .code = "unsupported_media_type",
                                   .message = "wanted a body without Content-Encoding",
                                   .wanted = "identity",
                                   .found = std::string(*encoding)});
  }
  auto tree = json::parse_document(request.body, "body");
  if (tree) return std::move(*tree);
  const bool is_malformed = tree.error().code == ErrorCode::kMalformed;
  return tl::unexpected(ApiError{.status = is_malformed ? 400 : 422,
                                 .code = is_malformed ? "malformed" : "invalid",
                                 .message = tree.error().message});
}

ApiError error_of(const yaml::Failure& failure) {
  ApiError error{.status = failure.code == ErrorCode::kMalformed ? 400 : 422,
                 .code = failure.code == ErrorCode::kMalformed ? "malformed" : "invalid",
                 .message = failure.message};
  if (const std::string field = failure.field(); !field.empty()) error.field = field;
  if (!failure.wanted.empty()) error.wanted = failure.wanted;
  if (!failure.found.empty()) error.found = failure.found;
  return error;
}

std::string read_reason(const yaml::Value& value) {
  constexpr std::string_view kWanted = "a text of 1 to 500 characters on one line, not only spaces";
  std::string text = value.text(kWanted);
  if (value.has_failed()) return "";
  const auto characters = static_cast<std::size_t>(std::ranges::count_if(text, is_first_byte));
  const bool is_blank = std::ranges::all_of(text, [](char c) { return c == ' '; });
  if (has_control(text)) {
    value.refuse(kWanted, "control characters, such as a line feed");
  } else if (characters > kReasonCharactersMax) {
    value.refuse(kWanted, fmt::format("{} characters", characters));
  } else if (is_blank) {
    value.refuse(kWanted);
  }
  return text;
}

ApiResult<std::string> required_reason(const HttpRequest& request) { return reason_of(request, true); }

ApiResult<std::string> optional_reason(const HttpRequest& request) {
  if (request.body.empty()) return std::string();
  return reason_of(request, false);
}

}  // namespace berth::api
