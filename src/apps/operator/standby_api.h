/// What an operator that stands by answers: that it lives, and who leads.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

#include "domain/ports/http_server.h"

namespace berth::apps {

/// `/healthz` and `/readyz` are 200, as a standby is ready to take over; everything else is a 503 `not_leader` that
/// names the leader: the session is there.
class StandbyApi : public HttpHandler {
 public:
  /// `leader` is asked by any thread; an empty name: nobody is known to lead.
  explicit StandbyApi(std::function<std::string()> leader) : leader_(std::move(leader)) {}

  [[nodiscard]] HttpAnswer answer(const HttpRequest& request) override;
  [[nodiscard]] HttpResponse render(const HttpRefusal& refusal) override;

 private:
  [[nodiscard]] std::string next_id();

  std::function<std::string()> leader_;
  std::atomic<std::uint64_t> request_count_ = 0;
};

}  // namespace berth::apps
