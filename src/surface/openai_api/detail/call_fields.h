/// What is read of requests and answers; all else passes unread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/core/result.h"
#include "surface/openai_api/proxied_request.h"

namespace berth::openai::detail {

struct CallFields {
  std::string model;
  bool is_stream = false;
};

/// Errors: kMalformed if the body is not a JSON object or repeats one of the keys; kInvalidInput if `model` is missing
/// or not a text, or `stream` is neither true, false nor null.
[[nodiscard]] Result<CallFields> read_call(std::string_view body);

/// The usage in an answer's object, or in that of an event; nothing if it has none.
[[nodiscard]] std::optional<TokenUsage> usage_in(std::string_view answer);

}  // namespace berth::openai::detail
