#include "edges/gateway_server/gateway_target.h"

#include <string_view>

namespace berth::edges {

std::optional<GatewayTarget> gateway_target(const HttpRequest& request) {
  if (request.path.size() < 2 || request.path[0].empty() || request.path[1].empty()) return std::nullopt;
  std::string_view target = request.target;
  if (!target.starts_with('/')) {  // "http://host/path" (RFC 9112, 3.2.2)
    const std::size_t scheme = target.find("://");
    const std::size_t path = scheme == std::string_view::npos ? scheme : target.find('/', scheme + 3);
    if (path == std::string_view::npos) return std::nullopt;
    target.remove_prefix(path);
  }
  const std::string_view path = target.substr(0, target.find('?'));
  const std::size_t second = path.find('/', 1);
  if (second == std::string_view::npos) return std::nullopt;
  const std::size_t third = path.find('/', second + 1);
  GatewayTarget found{.tenant = request.path[0], .service = request.path[1], .rest = ""};
  if (third == std::string_view::npos) {
    found.rest = "/";
    found.rest += target.substr(path.size());
  } else {
    found.rest = target.substr(third);
  }
  return found;
}

}  // namespace berth::edges
