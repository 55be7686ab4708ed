/// A thread that follows one resource of a cluster.
#pragma once

#include <atomic>
#include <memory>
#include <thread>

#include "edges/kube/change_queue.h"
#include "edges/kube/kube_client.h"
#include "kube/client/reflector.h"

namespace berth::edges {

/// Begins at once. The queue is borrowed, and closed before this is destroyed.
class KubeFollower {
 public:
  KubeFollower(const kube::Resource& resource, std::shared_ptr<KubeIdentity> identity, std::shared_ptr<SharedPace> pace,
               ChangeQueue& queue, const kube::ReflectorOptions& options = {}, std::uint64_t seed = 1);
  KubeFollower(const KubeFollower&) = delete;
  KubeFollower& operator=(const KubeFollower&) = delete;
  ~KubeFollower();

  /// Reads a complete list from the server once more, begun after this call: its news have `order`. Any thread.
  void list_anew(std::int64_t order) { order_wanted_ = order; }

 private:
  void follow();
  void list(const kube::Reflector::ListStep& step);
  void watch(const kube::Reflector::WatchStep& step);
  bool pass_on(std::vector<kube::Change> changes);

  const kube::Resource resource_;
  ChangeQueue& queue_;
  std::atomic<bool> is_stopped_ = false;
  std::atomic<std::int64_t> order_wanted_ = 0;
  std::int64_t order_ = 0;  ///< of the list under way, or read last
  Rng rng_;
  KubeClient client_;
  kube::Reflector reflector_;
  std::int64_t lists_passed_on_ = 0;
  bool had_trouble_ = false;
  std::thread thread_;
};

}  // namespace berth::edges
