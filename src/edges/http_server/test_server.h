/// A running server and its clients, for tests of the HTTP server.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "edges/http_server/http_server.h"
#include "edges/http_server/test_handler.h"
#include "edges/http_server/test_raw_client.h"

namespace berth::edges {

/// A request that `TestHandler` answers at once.
inline constexpr const char* kAskOther = "GET /ok HTTP/1.1\r\nHost: a\r\n\r\n";

class RunningServerTest : public ::testing::Test {
 protected:
  void start(const HttpServerOptions& options = {}) {
    auto started = start_http_server(options, handler_);
    ASSERT_TRUE(started) << started.error().message;
    server_ = *std::move(started);
  }
  [[nodiscard]] RawClient connect() const { return RawClient(server_->port()); }

  TestHandler handler_;
  std::unique_ptr<HttpServer> server_;
};

}  // namespace berth::edges
