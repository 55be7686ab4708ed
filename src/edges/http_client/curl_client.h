/// An HTTP client behind the port `HttpClient`. Only this folder uses libcurl.
#pragma once

#include "domain/ports/http_client.h"

namespace berth::edges {

/// Each call opens a connection of its own and may come from any thread. Proxies of the environment (http_proxy,
/// https_proxy, no_proxy) are used, but never for this machine: localhost and loopback addresses.
///
/// `patience`: for this long, but not longer than the call's timeout, `send` retries if no server can be reached or the
/// connection breaks before the answer is complete: a killed server may be back soon. A write (PUT, POST, DELETE) then
/// has an Idempotency-Key, a random one if the call has none, so that it is carried out only once. Zero: each call is
/// sent once, unchanged. Streams are never retried.
///
/// The first object sets libcurl up for the process: make it before other threads start.
class CurlClient : public HttpClient {
 public:
  explicit CurlClient(Micros patience = Micros(0));
  CurlClient(const CurlClient&) = delete;
  CurlClient& operator=(const CurlClient&) = delete;
  ~CurlClient() override;

  [[nodiscard]] Result<HttpReply> send(const HttpCall& call) const override;
  [[nodiscard]] Result<HttpReply> read_lines(const HttpCall& call, const HttpLineReading& reading) const override;

 private:
  Micros patience_;
};

}  // namespace berth::edges
