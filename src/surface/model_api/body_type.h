/// Which bodies a model server takes.
#pragma once

#include <optional>

#include "domain/ports/http_server.h"

namespace berth::model_api {

/// The answer 415 to a body that is neither JSON nor binary by its Content-Type, or is compressed; nothing if it is
/// fine. As clients leave the type out (tritonclient) or do not mean it (curl, which sends that of forms unless it is
/// told otherwise), these are fine, too: what the body is, is read from itself.
[[nodiscard]] std::optional<HttpResponse> refuse_body_type(const HttpRequest& request);

}  // namespace berth::model_api
