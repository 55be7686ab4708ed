/// Decides for one device which request runs when, what is loaded and what makes room. Pure: events and a time in,
/// orders out; no clock, no thread. A simulation and a server drive it alike.
#pragma once

#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "serving/dispatch/berth_policy.h"
#include "serving/dispatch/device_state.h"
#include "serving/dispatch/model_loads.h"
#include "serving/dispatch/order.h"
#include "serving/dispatch/rivals.h"
#include "serving/dispatch/terms.h"

namespace berth::serving {

/// At one instant the caller reports the ends of batches, then the end of a load, then arrivals, and calls `decide`
/// once. Time never goes back.
class Dispatcher {
 public:
  /// Requires: as DeviceState; at least one tenant.
  Dispatcher(std::vector<ModelTerms> models, const std::vector<TenantTerms>& tenants, const DispatchTerms& terms);

  [[nodiscard]] const DeviceState& device() const { return device_; }
  /// Makes models resident in their order, each that still fits. Before the first event.
  void place_initially();

  /// The batch that ended.
  RunningBatch end_batch(LaneIndex lane, Instant now);
  void end_load() { device_.end_load(); }
  void arrive(const Request& request, Instant now);
  /// Orders what should start, leave or be dropped now.
  void decide(Instant now);
  /// When `decide` may order something although nothing happens before; never() if nothing can come by itself.
  [[nodiscard]] Instant wake_at() const { return wake_at_; }

  /// The orders since the last call, in their order.
  [[nodiscard]] std::vector<Order> take_orders();

 private:
  struct Berth {
    BerthPolicy batches;
    ModelLoads loads;
  };

  void decide_for(RivalPolicy& policy, Instant now);
  void decide_for(Berth& policy, Instant now);
  void drop_hopeless(Berth& policy, Instant now);
  void decide_loads(Berth& policy, Instant now);
  void start_decided(Berth& policy, LaneIndex lane, const BatchDecision& decision, Instant now);
  void drop(Berth& policy, ModelIndex model, std::span<const std::size_t> positions, Instant now);
  void evict(ModelIndex model);
  void start_load(ModelIndex model, Instant now);
  const RunningBatch& start_batch(LaneIndex lane, ModelIndex model, std::vector<Request> requests, Instant now);

  DeviceState device_;
  std::variant<RivalPolicy, Berth> policy_;
  std::vector<Order> orders_;
  std::int64_t next_number_ = 0;  ///< above that of every request so far
  Instant wake_at_ = Instant::never();
};

}  // namespace berth::serving
