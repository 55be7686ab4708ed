#include "surface/model_api/route_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "base/core/ensure.h"
#include "base/core/text.h"
#include "surface/model_api/model_response.h"

namespace berth::model_api {
namespace {

using Parameters = std::array<std::string_view, kParameterCountMax>;

std::vector<std::string> segments_of(std::string_view path) {
  std::vector<std::string> segments;
  for (std::size_t begin = 1; begin < path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    segments.emplace_back(path.substr(begin, end - begin));
    begin = end + 1;
  }
  return segments;
}

bool is_parameter(std::string_view segment) { return segment.starts_with('{'); }

/// The parameters, if the path matches the route.
std::optional<Parameters> match(const std::vector<std::string>& route, const std::vector<std::string>& path) {
  if (route.size() != path.size()) return std::nullopt;
  Parameters parameters;
  std::size_t count = 0;
  for (std::size_t i = 0; i < route.size(); ++i) {
    if (is_parameter(route[i])) {
      if (path[i].empty()) return std::nullopt;
      parameters[count++] = path[i];
    } else if (route[i] != path[i]) {
      return std::nullopt;
    }
  }
  return parameters;
}

HttpResponse not_found(const HttpRequest& request) {
  return error_response(
      404, fmt::format("there is nothing at {}", in_quotes(fmt::format("/{}", fmt::join(request.path, "/")))));
}

HttpResponse method_not_allowed(const HttpRequest& request, const std::vector<std::string_view>& methods) {
  const std::string allowed = fmt::format("{}", fmt::join(methods, ", "));
  HttpResponse response = error_response(405, fmt::format("wanted {}, found {}", allowed, in_quotes(request.method)));
  response.headers.push_back({.name = "Allow", .value = allowed});
  return response;
}

}  // namespace

RouteTable::RouteTable(std::vector<ModelRoute> routes) {
  entries_.reserve(routes.size());
  for (ModelRoute& route : routes) {
    std::vector<std::string> segments = segments_of(route.path);
    ENSURE(std::cmp_less_equal(std::ranges::count_if(segments, is_parameter), kParameterCountMax));
    entries_.push_back({.route = std::move(route), .segments = std::move(segments)});
  }
}

tl::expected<FoundRoute, HttpResponse> RouteTable::find(const HttpRequest& request) const {
  std::vector<std::string_view> methods;
  for (const Entry& entry : entries_) {
    const auto parameters = match(entry.segments, request.path);
    if (!parameters) continue;
    const std::string_view method = entry.route.method;
    if (method == request.method || method == kAnyMethod) {
      return FoundRoute{.route = &entry.route, .parameters = *parameters};
    }
    methods.push_back(method);
    if (method == "GET") methods.emplace_back("HEAD");
  }
  if (methods.empty()) return tl::unexpected(not_found(request));
  return tl::unexpected(method_not_allowed(request, methods));
}

}  // namespace berth::model_api
