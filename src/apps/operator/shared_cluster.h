/// The cluster as the world of a session: shared by the thread that follows the cluster and the one that drives the
/// session.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kube/placing/placing.h"
#include "kube/world/cluster_world.h"
#include "live/local/outside_world.h"

namespace berth::apps {

/// Its functions may be called by any thread, those of OutsideWorld as that says.
class SharedCluster {
 public:
  explicit SharedCluster(kube::ClusterWorldOptions options) : world_(std::move(options)) {}

  // ---- for the thread that follows the cluster
  void take(std::string_view plural, const kube::Change& change);
  void own(std::vector<kube::OwnedPools> own);
  /// What `placing` knows by now; keeps devices of the session's slices free in it.
  void meet(kube::Placing& placing);
  /// ClusterWorld::set_pods, held.
  void set_pods(std::map<kube::ObjectName, std::string> pods);
  [[nodiscard]] kube::ClusterWorld::Held held() const;
  [[nodiscard]] std::vector<kube::Action> decide(Instant now);
  void take_outcome(const kube::Action& action, const Result<kube::WriteOutcome>& outcome, Instant now);
  /// GPUs for which the folder has no number left, and that were not returned before.
  [[nodiscard]] std::vector<std::string> take_excess_gpus();
  /// ClusterWorld::begin_again, with what `placing` knows.
  void begin_again(const std::vector<device::LocalGpu>& fleet, kube::Placing& placing);
  /// Whether the cluster can be followed.
  void note_away(std::optional<live::ClusterAway> away);

  /// Called with the address of the session's API and a key for it, before the session is served.
  void on_api(std::function<void(const std::string& url, const std::string& key)> meet) { meet_ = std::move(meet); }
  /// The fleet that the session should have; nothing: the present one.
  [[nodiscard]] std::optional<std::vector<device::LocalGpu>> wanted_fleet() const;
  /// The cluster as `berth up` sees it. Borrows this object.
  [[nodiscard]] live::OutsideWorld as_world();

 private:
  [[nodiscard]] live::DeviceSource source(bool has_load);
  [[nodiscard]] live::DeviceView view(GpuId gpu) const;
  [[nodiscard]] live::DeviceSliceView view(const Slice& slice) const;

  mutable std::mutex mutex_;
  kube::ClusterWorld world_;
  std::function<void()> on_report_;
  std::function<void(const std::string& url, const std::string& key)> meet_;
  std::set<std::string> reported_excess_;
  std::optional<live::ClusterAway> away_;
};

}  // namespace berth::apps
