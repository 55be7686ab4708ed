#include "surface/api/time_query.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "surface/api/paging.h"

namespace berth::api {
namespace {

ApiResult<std::optional<Instant>> parse_time(const WorldEpoch& epoch, const HttpRequest& request,
                                             std::string_view name) {
  const auto found = std::ranges::find(request.query, name, &HttpField::name);
  if (found == request.query.end()) return std::nullopt;
  const auto at = epoch.parse(found->value);
  if (at) return at;
  return tl::unexpected(bad_query(std::string(name), "a time of RFC 3339 such as 2026-11-22T10:00:00Z", found->value));
}

}  // namespace

ApiResult<AskedTimes> parse_times(const WorldEpoch& epoch, const HttpRequest& request) {
  const auto from = parse_time(epoch, request, "from");
  if (!from) return tl::unexpected(from.error());
  const auto to = parse_time(epoch, request, "to");
  if (!to) return tl::unexpected(to.error());
  if (*from && *to && **from >= **to) {
    return tl::unexpected(bad_query("to", "a time behind from", epoch.text(**to)));
  }
  return AskedTimes{.from = *from, .to = *to};
}

}  // namespace berth::api
