/// `berth serve --demo`: a server under load, a line per second, and what was saved.
#pragma once

#include <cstdint>
#include <cstdio>
#include <functional>

#include "domain/ports/http_stream_client.h"
#include "edges/model_server/model_server.h"

namespace berth::serve {

struct DemoTerms {
  std::FILE* out = stdout;
  std::function<bool()> is_stopped;  ///< somebody asked for the end; true from then on
};

/// Takes a minute, unless it is stopped. The server serves the models of `DemoFolder` at this port.
void run_demo(const edges::ModelServer& server, HttpStreamClient& client, std::uint16_t port, const DemoTerms& terms);

}  // namespace berth::serve
