/// The options of `berth gateway`: as typed, and checked.
#pragma once

#include <optional>
#include <string>

#include "base/core/result.h"
#include "serving/gateway/gateway_request.h"
#include "surface/cli/shared/option_row.h"

namespace berth::cli {

/// As typed.
struct GatewayWords {
  std::string listen = "127.0.0.1:8700";
  std::optional<std::string> up = std::nullopt;
  std::optional<std::string> key_file = std::nullopt;
  std::optional<std::string> state = std::nullopt;
  std::optional<std::string> metrics = std::nullopt;
  std::string silence_seconds = "600";
  std::string answer_seconds_max = "600";
};

[[nodiscard]] OptionTable gateway_option_rows(GatewayWords& words);

/// Checked, as far as possible without the files. `berth up` must be on this machine: its key and its table are not
/// encrypted on the way.
[[nodiscard]] Result<serving::GatewayRequest> check_gateway_options(const GatewayWords& words);

}  // namespace berth::cli
