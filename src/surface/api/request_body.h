/// What a request's body says: its type is checked, its JSON is read, and what it means is checked field by field.
#pragma once

#include <string>

#include "base/yaml/document.h"
#include "base/yaml/reader.h"
#include "domain/ports/http_server.h"
#include "surface/api/api_error.h"

namespace berth::api {

/// The JSON of a body. 415 for another type than application/json, 400 for what is not JSON, 422 for too much of it.
[[nodiscard]] ApiResult<yaml::Node> parse_body(const HttpRequest& request);

/// A failure of reading its fields: 422, or 400 where the text itself is malformed.
[[nodiscard]] ApiError error_of(const yaml::Failure& failure);

/// A reason: a text of 1 to 500 characters, not only spaces, without control characters.
[[nodiscard]] std::string read_reason(const yaml::Value& value);

/// The `reason` of a body that has nothing else.
[[nodiscard]] ApiResult<std::string> required_reason(const HttpRequest& request);
/// The same where it may be absent, as may the body; empty then.
[[nodiscard]] ApiResult<std::string> optional_reason(const HttpRequest& request);

}  // namespace berth::api
