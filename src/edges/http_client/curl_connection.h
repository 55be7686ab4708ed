/// An HTTP client that keeps its connection. Only this folder uses libcurl.
#pragma once

#include <memory>

#include "domain/ports/http_client.h"
#include "edges/http_client/server_access.h"

namespace berth::edges {

/// As CurlClient without patience, but calls go over the connection of the call before, as long as the server keeps it.
/// One thread at a time.
///
/// `access` says whom to trust over TLS, and who the client is. With it, a body is sent at most once, also if a kept
/// connection turns out to be closed: kUnavailable then.
///
/// The first object of this folder sets libcurl up for the process: make it before other threads start.
class CurlConnection : public HttpClient {
 public:
  CurlConnection();
  explicit CurlConnection(ServerAccess access);
  CurlConnection(const CurlConnection&) = delete;
  CurlConnection& operator=(const CurlConnection&) = delete;
  ~CurlConnection() override;

  [[nodiscard]] Result<HttpReply> send(const HttpCall& call) const override;
  [[nodiscard]] Result<HttpReply> read_lines(const HttpCall& call, const HttpLineReading& reading) const override;

 private:
  struct Kept;
  std::unique_ptr<Kept> kept_;
};

}  // namespace berth::edges
