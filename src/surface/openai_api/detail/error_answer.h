/// Errors in the shape of OpenAI's API.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/core/instant.h"
#include "domain/ports/http_server.h"

namespace berth::openai::detail {

struct ApiError {
  int status = 500;
  std::string_view type;  ///< such as "invalid_request_error"
  std::string_view code;  ///< such as "model_not_found"; empty: null
  std::string message;
  std::optional<Micros> retry_after = std::nullopt;  ///< when trying again may help
};

/// `{"error":{"message","type","param","code"}}`, without a newline.
[[nodiscard]] std::string error_text(const ApiError& error);
[[nodiscard]] HttpResponse error_answer(const ApiError& error);

}  // namespace berth::openai::detail
