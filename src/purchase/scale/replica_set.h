/// The replicas of one service: ready ones, and starting ones with the second at which they are ready.
#pragma once

#include <cstdint>
#include <deque>

namespace berth::scale {

/// Regular value. Amortised O(1) per second.
class ReplicaSet {
 public:
  /// Requires: both >= 0.
  ReplicaSet(std::int64_t ready, std::int64_t start_seconds) : ready_(ready), start_seconds_(start_seconds) {}

  [[nodiscard]] std::int64_t ready() const { return ready_; }
  [[nodiscard]] std::int64_t starting() const { return starting_; }
  [[nodiscard]] std::int64_t size() const { return ready_ + starting_; }

  /// Makes the replicas ready whose start is over at this second. Requires: seconds increase.
  void advance(std::int64_t second);

  /// Starts or stops replicas until there are `want`. Starting ones stop first, the newest first, then ready ones. With
  /// start_seconds 0 a replica is ready at once. Requires: want >= 0, `second` is the one advanced to.
  void resize(std::int64_t want, std::int64_t second);

 private:
  struct Start {
    std::int64_t ready_at = 0;
    std::int64_t count = 0;
    friend bool operator==(const Start&, const Start&) = default;
  };

  void start(std::int64_t count, std::int64_t second);
  void stop(std::int64_t count);

  std::int64_t ready_ = 0;
  std::int64_t starting_ = 0;
  std::int64_t start_seconds_ = 0;
  std::deque<Start> starts_;  ///< oldest first; their counts are positive and sum to starting_
};

}  // namespace berth::scale
