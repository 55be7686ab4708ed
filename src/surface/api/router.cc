#include "surface/api/router.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>
#include <utility>

namespace berth::api {
namespace {

using Parameters = std::map<std::string, std::string, std::less<>>;

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
  for (std::size_t i = 0; i < route.size(); ++i) {
    if (is_parameter(route[i])) {
      if (path[i].empty()) return std::nullopt;
      parameters.emplace(route[i].substr(1, route[i].size() - 2), path[i]);
    } else if (route[i] != path[i]) {
      return std::nullopt;
    }
  }
  return parameters;
}

}  // namespace

Router::Router(std::vector<Route> routes) {
  entries_.reserve(routes.size());
  for (Route& route : routes) {
    std::vector<std::string> segments = segments_of(route.path);
    entries_.push_back({.route = std::move(route), .segments = std::move(segments)});
  }
}

ApiResult<Routed> Router::find(const HttpRequest& request) const {
  std::vector<std::string_view> methods;
  for (const Entry& entry : entries_) {
    auto parameters = match(entry.segments, request.path);
    if (!parameters) continue;
    if (entry.route.method == request.method)
      return Routed{.route = &entry.route, .parameters = std::move(*parameters)};
    methods.push_back(entry.route.method);
    if (entry.route.method == "GET") methods.emplace_back("HEAD");
  }
  if (methods.empty()) {
    return tl::unexpected(ApiError{.status = 404,
                                   .code = "not_found",
                                   .message = fmt::format("there is nothing at /{}", fmt::join(request.path, "/"))});
  }
  const std::string allowed = fmt::format("{}", fmt::join(methods, ", "));
  return tl::unexpected(ApiError{.status = 405,
                                 .code = "method_not_allowed",
                                 .message = fmt::format("wanted {}, found {}", allowed, request.method),
                                 .wanted = allowed,
                                 .found = request.method,
                                 .allow = allowed});
}

}  // namespace berth::api
