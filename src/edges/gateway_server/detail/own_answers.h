/// What a gateway says of itself, and its errors.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/core/instant.h"
#include "domain/ports/http_server.h"
#include "serving/gateway/gateway.h"

namespace berth::edges::detail {

/// `{"error": MESSAGE}`. `retry_after`: when trying again may help.
[[nodiscard]] HttpResponse error_answer(int status, const std::string& message,
                                        std::optional<Micros> retry_after = std::nullopt);

/// Whether a path is of the gateway itself: /berth/...
[[nodiscard]] bool is_own_path(const std::vector<std::string>& path);
/// The answer to GET. O(replicas).
[[nodiscard]] HttpResponse own_answer(const std::vector<std::string>& path, const std::string& name,
                                      const serving::Gateway& gateway, Instant now);

}  // namespace berth::edges::detail
