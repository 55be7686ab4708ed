/// The pause of planning that the cluster keeps, for reads of a standby.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "apps/operator/standby_objects.h"
#include "base/core/instant.h"
#include "edges/kube/kube_client.h"
#include "kube/client/resource.h"

namespace berth::apps {

/// Asks the cluster at most once per second, and only when it is asked itself. Any thread may call.
class PauseReader {
 public:
  PauseReader(std::shared_ptr<edges::KubeIdentity> identity, std::shared_ptr<edges::SharedPace> pace,
              kube::ObjectName lease);

  /// Takes up to three seconds. Nothing: the API server does not say it.
  [[nodiscard]] std::optional<StandbyPause> read();

 private:
  std::mutex lock_;
  edges::KubeClient cluster_;
  const kube::ObjectName lease_;
  std::optional<Instant> read_at_;
  std::optional<StandbyPause> known_;
};

}  // namespace berth::apps
