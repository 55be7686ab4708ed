/// `berth up` on the GPUs of a cluster: the session of the operator that leads.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "apps/operator/operator_loop.h"
#include "apps/operator/run_operator.h"
#include "apps/operator/shared_cluster.h"
#include "apps/operator/spec_follower.h"

namespace berth::apps {

struct ClusterSessionOptions {
  std::string cluster_uid;                  ///< of the namespace kube-system
  std::vector<kube::OwnedPools> own;        ///< at the start
  std::function<Result<void>()> step = {};  ///< before each step of the loop, by its thread; an error ends the session
  std::function<std::optional<Error>()> trouble = {};  ///< why the API server does not answer; may be empty
  std::function<void()> on_stop = {};  ///< the session has ended: requests to the cluster need not be finished
  std::function<void()> on_end = {};   ///< nothing is written to the cluster any more
  std::function<void(const std::string& line)> log = {};  ///< called by several threads
};

class ClusterSession {
 public:
  /// All borrowed. The loop follows the cluster, and everything has been listed.
  ClusterSession(OperatorLoop& loop, std::shared_ptr<edges::KubeIdentity> identity, const OperatorRequest& request,
                 const OperatorOutside& outside, ClusterSessionOptions options);
  ClusterSession(const ClusterSession&) = delete;
  ClusterSession& operator=(const ClusterSession&) = delete;
  ~ClusterSession() { end(); }

  /// Runs until SIGINT or SIGTERM, or until a step fails; returns the exit status. The loop goes on in a thread.
  [[nodiscard]] Result<int> run();

 private:
  live::OutsideWorld make_world(const std::vector<device::LocalGpu>& fleet, std::int64_t epoch_us);
  /// The next one, with another fleet.
  live::OutsideWorld make_next_world(const std::vector<device::LocalGpu>& fleet);
  void follow();
  /// Ends the thread after its current step.
  void pause_following();
  void note_away();
  void end();

  OperatorLoop& loop_;
  std::shared_ptr<edges::KubeIdentity> identity_;
  const OperatorRequest& request_;
  const OperatorOutside& outside_;
  ClusterSessionOptions options_;
  std::unique_ptr<SharedCluster> cluster_;
  std::unique_ptr<SpecFollower> specs_;
  std::atomic<bool> is_over_ = false;
  std::atomic<bool> is_pausing_ = false;
  Result<void> followed_ = {};             ///< of the thread, until it has ended
  std::optional<live::ClusterAway> away_;  ///< the same
  std::thread follower_;
};

}  // namespace berth::apps
