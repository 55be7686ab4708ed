/// The target of a request ("/v1/services?limit=10") as decoded segments and pairs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/core/result.h"
#include "domain/ports/http_message.h"

namespace berth::edges {

struct Target {
  std::vector<std::string> path;  ///< as in HttpRequest
  std::vector<HttpField> query;   ///< decoded; "a" is {"a", ""}, "+" is a space, empty pairs ("a&&b") are left out
};

/// Splits before decoding, so that an encoded slash, "?" or "&" separates nothing. Accepts the form "/path?query" (RFC
/// 9112, 3.2.1), also with "http://host" in front (3.2.2).
///
/// Error: a control character or space, "#", a "%" without two hexadecimal digits, decoded text that is not UTF-8 or
/// holds a NUL, a pair without a name. O(length).
[[nodiscard]] Result<Target> parse_target(std::string_view target);

}  // namespace berth::edges
