/// Who this server is to a gateway: the slice that it was started on, and a key that only the gateway has. From the
/// environment, where the GPU agent puts it.
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/core/result.h"
#include "domain/ports/http_server.h"
#include "domain/tracing/otel_options.h"

namespace berth::serve {

struct ServeIdentity {
  std::string slice;       ///< BERTH_SLICE; empty: answers do not say it
  std::string generation;  ///< BERTH_GENERATION, a whole number; empty likewise
  std::string key;         ///< BERTH_KEY; empty: requests need none

  [[nodiscard]] bool is_stated() const { return !slice.empty() || !key.empty(); }
};

/// Errors: only one of slice and generation, a generation that is not a whole number, other than visible characters of
/// ASCII.
[[nodiscard]] Result<ServeIdentity> read_identity(const Environment& environment);

/// Another handler's answers with the headers `berth-slice` and `berth-generation`, and `berth-proof` if the request
/// has a `berth-nonce` (serving/replica_proof). Refused, with the header `berth-refused`, and not given to the other:
/// a request without the key or its token (401), unless it is for `/v2/health`, and one that names another slice or
/// generation (421).
class IdentifiedHandler final : public HttpHandler {
 public:
  /// The other is borrowed.
  IdentifiedHandler(ServeIdentity identity, HttpHandler& inner);

  /// From now on all requests are refused (503) in the same way: a gateway sends them elsewhere. Any thread.
  void begin_end() { is_ending_ = true; }

  [[nodiscard]] HttpAnswer answer(const HttpRequest& request) override;
  [[nodiscard]] std::optional<std::size_t> body_bytes_max(const HttpRequest& request) override;
  [[nodiscard]] HttpResponse render(const HttpRefusal& refusal) override;

 private:
  [[nodiscard]] std::optional<HttpResponse> refuse(const HttpRequest& request);
  [[nodiscard]] bool has_key(const HttpRequest& request) const;
  [[nodiscard]] std::vector<HttpField> name_headers() const;
  [[nodiscard]] std::vector<HttpField> headers_for(const HttpRequest& request) const;

  const ServeIdentity identity_;
  HttpHandler& inner_;
  const std::string token_;  ///< of the key; empty without one
  std::atomic<bool> is_ending_ = false;
};

}  // namespace berth::serve
