/// `from` and `to` of a query: times of the world.
#pragma once

#include <optional>

#include "base/core/clock_text.h"
#include "base/core/instant.h"
#include "domain/ports/http_server.h"
#include "surface/api/api_error.h"

namespace berth::api {

struct AskedTimes {
  std::optional<Instant> from;
  std::optional<Instant> to;
};

/// Errors (400): a value that is not a time of RFC 3339; `from` not before `to`.
[[nodiscard]] ApiResult<AskedTimes> parse_times(const WorldEpoch& epoch, const HttpRequest& request);

}  // namespace berth::api
