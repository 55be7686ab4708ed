/// What an operator that stands by answers: that it lives, what stands in the cluster, and who leads.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "domain/ports/http_server.h"
#include "live/local/device_source.h"

namespace berth::apps {

class StandbyObjects;
struct StandbyPause;

/// `/healthz` is 200, and so is `/readyz` while the API server can be reached: a standby is ready to take over.
/// Reads of what the cluster shows are answered from the picture. Everything else is a 503 `not_leader` that names the
/// leader, which has the session. Any thread may call all of it.
class StandbyApi : public HttpHandler {
 public:
  /// `leader`: an empty name: nobody is known to lead. `key`: of reads, not empty. `pause`: StandbyFacts::pause.
  StandbyApi(std::function<std::string()> leader, std::string key,
             std::function<std::optional<StandbyPause>()> pause = {});

  /// What stands in the cluster, from now on.
  void show(std::shared_ptr<const StandbyObjects> objects);
  /// Since when, and why, the cluster cannot be followed; nothing: it can.
  void note_away(std::optional<live::ClusterAway> away);

  [[nodiscard]] HttpAnswer answer(const HttpRequest& request) override;
  [[nodiscard]] HttpResponse render(const HttpRefusal& refusal) override;

 private:
  [[nodiscard]] HttpAnswer answer_ready(const std::string& id) const;
  [[nodiscard]] HttpAnswer refuse(const std::string& leader, const std::string& id) const;
  [[nodiscard]] std::optional<live::ClusterAway> away() const;
  [[nodiscard]] std::shared_ptr<const StandbyObjects> objects() const;
  [[nodiscard]] std::string next_id();

  std::function<std::string()> leader_;
  std::string key_;
  std::function<std::optional<StandbyPause>()> pause_;
  std::atomic<std::uint64_t> request_count_ = 0;
  mutable std::mutex lock_;  ///< of what follows
  std::shared_ptr<const StandbyObjects> objects_;
  std::optional<live::ClusterAway> away_;
};

}  // namespace berth::apps
