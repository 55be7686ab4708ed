/// The waiting requests of one service. Only the second that is arriving and the second at the head of the queue are
/// stored: a second's requests are a pure function of the seed, so the requests of a long backlog are drawn again when
/// they are served.
#pragma once

#include <cstdint>
#include <vector>

#include "domain/trace/arrival_stream.h"

namespace berth::sim {

/// Times are microseconds of the run.
class RequestQueue {
 public:
  static constexpr std::int64_t kNever = INT64_MAX;

  /// Keeps a reference to `stream`.
  explicit RequestQueue(const ArrivalStream& stream) : stream_(stream) {}

  /// Opens a second for arrival; returns how many requests it has. Requires: all of the previous second have arrived;
  /// seconds are opened in order.
  std::int64_t open_second(std::int64_t second);

  /// Time of the next request of the open second, or kNever.
  [[nodiscard]] std::int64_t next_arrival() const {
    return arrived_in_second_ < arriving_.offsets.size() ? arriving_.begin_us + arriving_.offsets[arrived_in_second_]
                                                         : kNever;
  }
  /// Lets the next request arrive. Requires: there is one.
  void arrive_one() {
    ++arrived_in_second_;
    ++waiting_;
  }
  /// Lets all requests of the open second arrive whose time is before `until_us`.
  void arrive_before(std::int64_t until_us);

  [[nodiscard]] std::int64_t waiting() const { return waiting_; }
  /// Arrival time of the request at the head. Requires: waiting() > 0.
  [[nodiscard]] std::int64_t head() {
    seek_head();
    return head_at_us();
  }
  /// Removes the head. Requires: waiting() > 0.
  void drop_head() {
    seek_head();
    ++head_index_;
    --waiting_;
  }
  /// The waiting requests of one second.
  struct Dropped {
    std::int64_t second = 0;
    std::int64_t count = 0;
  };
  /// Removes those of the head's second, without drawing what is removed. Requires: waiting() > 0.
  Dropped drop_head_second();
  /// Removes `count` from the head and appends their arrival times to `taken`. Requires: count <= waiting().
  void take(std::int64_t count, std::vector<std::int64_t>& taken);

 private:
  struct SecondOfRequests {
    std::int64_t second = -1;
    std::int64_t begin_us = 0;
    std::vector<std::uint32_t> offsets;
  };

  void load(std::int64_t second, SecondOfRequests& into) const;
  /// Moves the head to the second of the first waiting request.
  void seek_head() {
    if (head_index_ < head_size()) return;
    seek_next_second();
  }
  void seek_next_second();
  [[nodiscard]] const SecondOfRequests& head_block() const {
    return head_second_ == arriving_.second ? arriving_ : lagging_;
  }
  [[nodiscard]] std::size_t head_size() const { return head_block().offsets.size(); }
  [[nodiscard]] std::int64_t head_at_us() const { return head_block().begin_us + head_block().offsets[head_index_]; }

  const ArrivalStream& stream_;
  SecondOfRequests arriving_;
  SecondOfRequests lagging_;  ///< the second of the head, if earlier than the arriving one
  std::size_t arrived_in_second_ = 0;
  std::int64_t head_second_ = -1;
  std::size_t head_index_ = 0;
  std::int64_t waiting_ = 0;
};

}  // namespace berth::sim
