/// The arguments of the verb `serve` for the program that runs it: the command line does not include the server.
#pragma once

#include <cstdio>
#include <functional>

#include "base/core/result.h"
#include "domain/ports/files.h"
#include "serving/config/serve_request.h"

namespace berth::cli {

/// The streams and files are borrowed.
struct ServeCall {
  serving::ServeRequest request;
  std::FILE* out = stdout;
  std::FILE* err = stderr;
  const Files* files = nullptr;
  std::function<int(const Error&)> report_failure = {};  ///< prints the error; returns the exit status
};

}  // namespace berth::cli
