/// The orders of a client to change GPUs: which are sent, wait, are tried again or are past their deadline.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "domain/ports/gpu_hands.h"
#include "gpu/hands/protocol.h"

namespace berth::edges::detail {

/// "2 s", "50 ms".
[[nodiscard]] std::string in_words(std::chrono::milliseconds time);

/// One order of a GPU is under way at a time. Not thread-safe; times are arguments.
class DeviceOrders {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  /// `busy_pauses`: before each further try where the GPU is in use.
  DeviceOrders(std::chrono::milliseconds deadline, std::vector<std::chrono::milliseconds> busy_pauses)
      : deadline_(deadline), busy_pauses_(std::move(busy_pauses)) {}

  /// `gone`: why there is no agent.
  void submit(const DeviceOrder& order, const std::optional<std::string>& gone);
  void take_end(HandsEnd packet, TimePoint now);
  void take_status(const HandsStatus& status);
  /// Ends what is past its deadline. Returns whether something is.
  [[nodiscard]] bool keep_deadlines(TimePoint now);
  /// `send` returns whether the other side took the packet.
  void send_due(TimePoint now, const std::function<bool(const ClientPacket&)>& send);
  /// The agent is gone.
  void lose(const std::string& why);

  /// When there is something to do at the latest. `full_pause`: when to try again what the other side did not take;
  /// nothing: not before it has said hello.
  [[nodiscard]] TimePoint next(TimePoint now, std::optional<std::chrono::milliseconds> full_pause) const;
  /// Why this GPU takes no order: a call has not returned.
  [[nodiscard]] std::optional<std::string> why_not(const std::string& uuid) const;
  [[nodiscard]] std::vector<DeviceEnd> take_ended() { return std::exchange(ended_, {}); }
  [[nodiscard]] std::vector<DeviceEnd> take_delayed() { return std::exchange(delayed_, {}); }
  /// Whether something is new since the last call.
  [[nodiscard]] bool take_news() { return std::exchange(has_news_, false); }

 private:
  /// The order of a GPU that was sent to the agent, or will be sent again.
  struct Open {
    DeviceOrder order;
    bool is_sent = false;
    TimePoint until;  ///< sent: its deadline; else when to send it
    std::size_t busy_count = 0;
    DeviceEnd busy_end = {};  ///< the last one
  };
  /// An order past its deadline.
  struct Overdue {
    DeviceOrder order;
    std::string call;  ///< empty: not known
  };
  struct Gpu {
    std::deque<DeviceOrder> waiting;
    std::optional<Open> open;
    std::optional<Overdue> overdue;
  };

  void end_open(Gpu& gpu, DeviceEnd end, TimePoint now);
  void miss_deadline(Gpu& gpu);
  void finish(DeviceEnd end);
  [[nodiscard]] std::string overdue_words(const Overdue& overdue) const;

  const std::chrono::milliseconds deadline_;
  const std::vector<std::chrono::milliseconds> busy_pauses_;
  std::map<std::string, Gpu> gpus_;
  std::vector<DeviceEnd> ended_;
  std::vector<DeviceEnd> delayed_;
  bool has_news_ = false;
};

}  // namespace berth::edges::detail
