#include "serving/dispatch/testing/closed_loop.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/core/rng.h"

namespace berth::serving {
namespace {

class LoopRun {
 public:
  explicit LoopRun(const ClosedLoop& loop)
      : loop_(loop),
        dispatcher_({{.name = "m", .bytes = 0, .load = Micros(1), .latency = loop.latency}}, {{"default", 1}},
                    {.policy = loop.policy, .memory = 1, .lanes = loop.lanes}),
        rng_(loop.seed),
        asks_at_(static_cast<std::size_t>(loop.clients)) {
    dispatcher_.place_initially();
    for (Instant& at : asks_at_) at = Instant() + think();
  }

  ClosedLoopFigures run() {
    const Instant from = Instant() + loop_.warm_up;
    const Instant until = from + loop_.length;
    for (Instant now = next_instant(); now < until; now = next_instant()) {
      is_counted_ = now >= from;
      step(now);
    }
    const auto answers = static_cast<double>(answers_);
    return {.answers_per_second = answers / loop_.length.to_seconds(),
            .latency_mean_us = static_cast<double>(latency_.count()) / std::max(answers, 1.0),
            .in_time_per_second = static_cast<double>(in_time_) / loop_.length.to_seconds()};
  }

 private:
  Micros think() {
    const double drawn = -std::log(1 - rng_.unit()) * static_cast<double>(loop_.think_random.count());
    return loop_.think_fixed + Micros(std::llround(drawn));
  }

  [[nodiscard]] Instant next_instant() const {
    Instant next = std::min(dispatcher_.wake_at(), *std::ranges::min_element(asks_at_));
    for (const auto& batch : dispatcher_.device().lanes()) {
      if (batch) next = std::min(next, batch->end);
    }
    return next;
  }

  void step(Instant now) {
    for (const LaneIndex lane : Indices<LaneIndex>(dispatcher_.device().lanes().size())) {
      const auto& batch = dispatcher_.device().lanes()[static_cast<std::size_t>(lane)];
      if (!batch || batch->end > now) continue;
      for (const Request& request : dispatcher_.end_batch(lane, now).requests) answer(request, now);
    }
    for (Instant& at : asks_at_) {
      if (at > now) continue;
      dispatcher_.arrive(
          {.number = std::ssize(clients_), .tenant = TenantIndex(0), .arrival = now, .target = loop_.target}, now);
      clients_.push_back(static_cast<std::size_t>(&at - asks_at_.data()));
      at = Instant::never();
    }
    dispatcher_.decide(now);
    for (const Order& order : dispatcher_.take_orders()) {
      if (const auto* reject = std::get_if<Reject>(&order)) miss(reject->request, now);
      if (const auto* drop = std::get_if<Drop>(&order)) miss(drop->request, now);
    }
  }

  void answer(const Request& request, Instant now) {
    asks_at_[client_of(request)] = now + think();
    if (!is_counted_) return;
    ++answers_;
    latency_ += now - request.arrival;
    if (now <= request.deadline()) ++in_time_;
  }

  /// Rejected or dropped: the client waits a little, or virtual time would stand still.
  void miss(const Request& request, Instant now) { asks_at_[client_of(request)] = now + think() + Micros(1000); }

  [[nodiscard]] std::size_t client_of(const Request& request) const {
    return clients_[static_cast<std::size_t>(request.number)];
  }

  const ClosedLoop& loop_;
  Dispatcher dispatcher_;
  Rng rng_;
  std::vector<Instant> asks_at_;      ///< by client; never() while it waits for an answer
  std::vector<std::size_t> clients_;  ///< by number of their request
  bool is_counted_ = false;
  std::int64_t answers_ = 0;
  std::int64_t in_time_ = 0;
  Micros latency_;
};

}  // namespace

ClosedLoopFigures run_closed_loop(const ClosedLoop& loop) { return LoopRun(loop).run(); }

}  // namespace berth::serving
