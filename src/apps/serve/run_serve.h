/// `berth serve`: a model server until it is asked to stop.
#pragma once

#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>

#include "base/core/result.h"
#include "domain/ports/file_tree.h"
#include "domain/ports/files.h"
#include "domain/ports/http_server.h"
#include "domain/tracing/otel_options.h"
#include "edges/otlp/telemetry.h"
#include "serving/config/serve_request.h"

namespace berth::serve {

/// What the server uses of the outside. Pointers are borrowed.
struct ServeOutside {
  std::FILE* out = stdout;
  std::FILE* err = stderr;
  const Files* files = nullptr;
  const FileTree* tree = nullptr;  ///< of the repository
  std::function<Result<std::unique_ptr<HttpServer>>(const serving::LoopbackAddress&, HttpHandler&)> start_http;
  std::function<int(const Error&)> report_failure;         ///< prints the error; returns the exit status
  Environment environment = edges::process_environment();  ///< variables `OTEL_*`
};

/// Prints a line "ready ..." when it answers. Returns the exit status: 0 when it was asked to stop.
[[nodiscard]] int run_serve(const serving::ServeRequest& request, const ServeOutside& outside);

}  // namespace berth::serve
