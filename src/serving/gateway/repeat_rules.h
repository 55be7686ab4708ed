/// Which requests may be sent a second time although a replica may have carried them out.
#pragma once

#include <span>
#include <string_view>

#include "domain/ports/http_message.h"

namespace berth::serving {

/// GET, HEAD, a POST to `/v2/models/MODEL[/versions/VERSION]/infer` and whatever has an Idempotency-Key. `path` is that
/// below the service, with its query: "/v2/models/digits/infer".
[[nodiscard]] bool is_repeatable(std::string_view method, std::string_view path, std::span<const HttpField> headers);

}  // namespace berth::serving
