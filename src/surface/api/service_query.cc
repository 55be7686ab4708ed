#include "surface/api/service_query.h"

#include <cstddef>

#include "surface/api/paging.h"

namespace berth::api {

ApiResult<live::ServiceName> parse_service_name(const std::string& text) {
  const std::size_t slash = text.find('/');
  const bool is_name = slash != std::string::npos && slash > 0 && slash + 1 < text.size();
  if (!is_name) return tl::unexpected(bad_query("service", "TENANT/NAME", text));
  return live::ServiceName{.tenant = text.substr(0, slash), .name = text.substr(slash + 1)};
}

}  // namespace berth::api
