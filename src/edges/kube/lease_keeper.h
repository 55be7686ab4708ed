/// A thread that holds a Lease, or waits for it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "edges/kube/kube_client.h"
#include "kube/lease/lease.h"

namespace berth::edges {

/// What is known of a Lease.
struct LeaseStanding {
  bool is_known = false;   ///< who leads
  bool is_leader = false;  ///< whether this operator may write
  std::int64_t epoch = 0;  ///< of this leader
  std::string leader;      ///< the identity that holds it; empty: none
  std::optional<Error> trouble = std::nullopt;
};

/// Begins at once. Any thread may call.
class LeaseKeeper {
 public:
  /// Requires: valid options. `before_step` is called by the thread before each of its requests; may be empty.
  LeaseKeeper(std::shared_ptr<KubeIdentity> identity, const kube::LeaseOptions& options,
              std::function<void()> before_step = {});
  LeaseKeeper(const LeaseKeeper&) = delete;
  LeaseKeeper& operator=(const LeaseKeeper&) = delete;
  /// Keeps the Lease, which expires.
  ~LeaseKeeper();

  /// Whether this operator may write now, on the monotonic clock: it is asked before each write.
  [[nodiscard]] bool may_write() const { return steady_now().micros() < may_write_until_; }
  [[nodiscard]] LeaseStanding standing() const;
  /// Waits at most `patience` until it is known who leads.
  void await_leader(std::chrono::milliseconds patience);

  /// Stops; if the Lease is held, others may have it at once. To be called when this operator writes nothing more.
  void release();

 private:
  void keep();
  void stop();
  void publish();

  std::function<void()> before_step_;
  KubeClient client_;
  kube::LeaseHolder holder_;  ///< of the thread alone, until it has ended
  std::atomic<std::int64_t> may_write_until_ = INT64_MIN;
  mutable std::mutex lock_;
  std::condition_variable changed_;
  LeaseStanding standing_;
  std::atomic<bool> is_stopped_ = false;
  std::atomic<bool> is_aborted_ = false;  ///< also the request under way
  std::thread thread_;
};

/// A name for a LeaseHolder that no other process has: "HOST_0123456789abcdef".
[[nodiscard]] std::string lease_identity();

}  // namespace berth::edges
