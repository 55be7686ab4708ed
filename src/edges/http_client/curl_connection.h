/// An HTTP client that keeps its connection. Only this folder uses libcurl.
#pragma once

#include <memory>

#include "domain/ports/http_client.h"

namespace berth::edges {

/// As CurlClient without patience, but calls go over the connection of the call before, as long as the server keeps it.
/// One thread at a time.
///
/// The first object of this folder sets libcurl up for the process: make it before other threads start.
class CurlConnection : public HttpClient {
 public:
  CurlConnection();
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
