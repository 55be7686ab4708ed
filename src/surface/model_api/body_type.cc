#include "surface/model_api/body_type.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "base/core/text.h"
#include "surface/model_api/model_response.h"

namespace berth::model_api {
namespace {

constexpr std::array<std::string_view, 4> kBodyTypes{"", "application/json", "application/octet-stream",
                                                     "application/x-www-form-urlencoded"};

/// "application/json" of "Application/JSON; charset=utf-8".
std::string bare_type(std::string_view value) {
  std::string type(value.substr(0, value.find(';')));
  type.erase(type.find_last_not_of(" \t") + 1);
  std::ranges::transform(type, type.begin(),
                         [](char c) { return 'A' <= c && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return type;
}

}  // namespace

std::optional<HttpResponse> refuse_body_type(const HttpRequest& request) {
  const auto type = find_header(request.headers, "Content-Type");
  if (type && std::ranges::find(kBodyTypes, bare_type(*type)) == kBodyTypes.end()) {
    return error_response(
        415,
        fmt::format("Content-Type: wanted application/json or application/octet-stream, found {}", in_quotes(*type)));
  }
  const auto encoding = find_header(request.headers, "Content-Encoding");
  if (encoding && !encoding->empty() && bare_type(*encoding) != "identity") {
    return error_response(
        415, fmt::format("Content-Encoding: wanted a body that is not compressed, found {}", in_quotes(*encoding)));
  }
  return std::nullopt;
}

}  // namespace berth::model_api
