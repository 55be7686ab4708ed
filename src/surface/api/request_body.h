/// Reads a request's body: its media type is checked, its JSON is parsed, and its fields are checked one by one.
#pragma once

#include <string>

#include "base/yaml/document.h"
#include "base/yaml/reader.h"
#include "domain/ports/http_server.h"
#include "surface/api/api_error.h"

namespace berth::api {

/// The JSON of a body. 415 for a type other than application/json, 400 for malformed JSON, 422 beyond its limits.
[[nodiscard]] ApiResult<yaml::Node> parse_body(const HttpRequest& request);

/// The error for a failure to read its fields: 422, or 400 if the text itself is malformed.
[[nodiscard]] ApiError error_of(const yaml::Failure& failure);

/// A reason: a text of 1 to 500 characters, not only spaces, without control characters.
[[nodiscard]] std::string read_reason(const yaml::Value& value);

/// The `reason` of a body that has no other key.
[[nodiscard]] ApiResult<std::string> required_reason(const HttpRequest& request);
/// The same, but the reason or the whole body may be absent; empty then.
[[nodiscard]] ApiResult<std::string> optional_reason(const HttpRequest& request);

}  // namespace berth::api
