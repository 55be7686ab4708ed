/// The arguments of the verb `gateway` for the program that runs it: the command line does not include the gateway.
#pragma once

#include <cstdio>
#include <functional>

#include "base/core/result.h"
#include "domain/ports/files.h"
#include "serving/gateway/gateway_request.h"

namespace berth::cli {

/// The streams and files are borrowed.
struct GatewayCall {
  serving::GatewayRequest request;
  std::FILE* out = stdout;
  std::FILE* err = stderr;
  const Files* files = nullptr;
  std::function<int(const Error&)> report_failure = {};  ///< prints the error; returns the exit status
};

}  // namespace berth::cli
