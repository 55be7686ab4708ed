/// What the program that runs `berth up` hands in.
#pragma once

#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>

#include "base/core/result.h"

namespace berth {
class Files;
class HttpHandler;
class HttpServer;
}  // namespace berth

namespace berth::live {
struct RereadConfig;
}

namespace berth::up {

/// Starts an HTTP server on a host and port (0: any free one); the handler must outlive it.
using ServerStarter = std::function<Result<std::unique_ptr<HttpServer>>(const std::string& host, std::uint16_t port,
                                                                        HttpHandler& handler)>;

/// What whoever runs it hands in. The streams and files are borrowed; all of it is required, but for the last function.
struct UpOutside {
  std::FILE* out = stdout;
  std::FILE* err = stderr;
  const Files* files = nullptr;
  ServerStarter start_server = {};
  /// Prints why it failed; returns the exit status.
  std::function<int(const Error&)> report_failure = {};
  /// Needed with a configuration file only.
  std::function<Result<live::RereadConfig>()> read_config_again = {};
};

}  // namespace berth::up
