/// Keeps a pause of planning in the cluster, so that it outlives the operator that was asked for it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/core/instant.h"
#include "base/core/result.h"
#include "domain/ports/http_client.h"
#include "domain/ports/kube_api.h"
#include "kube/client/resource.h"

namespace berth::apps {

/// The reason of the pause that the cluster keeps next to this Lease; nothing: planning is not paused.
[[nodiscard]] Result<std::optional<std::string>> read_pause(KubeApi& cluster, const kube::ObjectName& lease);

/// One thread. It looks at both sides at most once per second: first the ConfigMap next to the Lease is carried over to
/// the session, then what the session says to the ConfigMap.
class PauseKeeper {
 public:
  /// A call of the session's API: method, path and body.
  using AskSession =
      std::function<Result<HttpReply>(std::string_view method, const std::string& path, std::string body)>;

  explicit PauseKeeper(kube::ObjectName lease) : lease_(std::move(lease)) {}

  /// Returns a line for the log where something was carried over, or could not be; each failure once.
  [[nodiscard]] std::optional<std::string> step(KubeApi& cluster, const AskSession& ask, Instant now);

 private:
  [[nodiscard]] Result<std::optional<std::string>> restore(KubeApi& cluster, const AskSession& ask);
  [[nodiscard]] Result<std::optional<std::string>> keep(KubeApi& cluster, const AskSession& ask);

  kube::ObjectName lease_;
  Instant next_at_ = Instant(INT64_MIN);
  bool is_restored_ = false;
  std::optional<std::string> kept_;  ///< the reason in the cluster; nothing: no pause
  std::string failure_;              ///< as last returned
};

}  // namespace berth::apps
