/// `berth gateway`: a gateway until it is asked to stop.
#pragma once

#include <cstdio>
#include <functional>

#include "base/core/result.h"
#include "domain/ports/files.h"
#include "serving/gateway/gateway_request.h"

namespace berth::gateway {

/// What the gateway uses of the outside. Pointers are borrowed.
struct GatewayOutside {
  std::FILE* out = stdout;
  std::FILE* err = stderr;
  const Files* files = nullptr;
  std::function<int(const Error&)> report_failure;  ///< prints the error; returns the exit status
};

/// Prints a line "ready ..." when it takes requests. Returns the exit status: 0 when it was asked to stop.
[[nodiscard]] int run_gateway(const serving::GatewayRequest& request, const GatewayOutside& outside);

}  // namespace berth::gateway
