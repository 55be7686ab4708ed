/// An HTTP client behind the port `HttpClient`. Only this folder uses libcurl.
#pragma once

#include "ports/http_client.h"

namespace berth::edges {

/// Each call opens a connection of its own and may come from any thread. Proxies of the environment (http_proxy,
/// https_proxy, no_proxy) are used, but never for this machine: localhost and loopback addresses.
///
/// The first object sets libcurl up for the process: make it before other threads start.
class CurlClient : public HttpClient {
 public:
  CurlClient();
  CurlClient(const CurlClient&) = delete;
  CurlClient& operator=(const CurlClient&) = delete;
  ~CurlClient() override;

  [[nodiscard]] Result<HttpReply> send(const HttpCall& call) const override;
  [[nodiscard]] Result<HttpReply> read_lines(const HttpCall& call, const HttpLineReading& reading) const override;
};

}  // namespace berth::edges
