/// Decides for one device which request runs when, what is loaded and what makes room. Pure: events and a time in,
/// orders out; no clock, no thread. A simulation and a server drive it alike.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "serving/dispatch/berth_policy.h"
#include "serving/dispatch/device_state.h"
#include "serving/dispatch/model_loads.h"
#include "serving/dispatch/order.h"
#include "serving/dispatch/rivals.h"
#include "serving/dispatch/terms.h"
#include "serving/dispatch/warm_demand.h"

namespace berth::serving {

/// At one instant the caller reports the ends of batches, then the end of a load, then arrivals, and calls `decide`
/// once, also after every other call that changes something. Time never goes back. The order of everything is that of
/// `take_orders`. A request ends exactly once: in a StartBatch, Reject or Drop order, or by being returned by a call.
class Dispatcher {
 public:
  /// Requires: no negative bytes; at least one tenant and one lane. There may be no models yet.
  Dispatcher(std::vector<ModelTerms> models, const std::vector<TenantTerms>& tenants, const DispatchTerms& terms);

  [[nodiscard]] const DeviceState& device() const { return device_; }
  /// Makes models resident in their order, each that still fits. Before the first event.
  void place_initially();

  /// A cold model that takes requests. Models are never removed: `withdraw` ends their use.
  ModelIndex add_model(ModelTerms terms);
  /// From now on; what runs keeps its expected end, and a resident or loading model its reservation. Returns requests
  /// that wait for the model and have more rows than a batch now takes: the caller answers them.
  [[nodiscard]] std::vector<Request> set_terms(ModelIndex model, ModelTerms terms) {
    return device_.set_terms(model, std::move(terms));
  }
  /// The model takes requests: undoes `withdraw` and `let_go`.
  void offer(ModelIndex model) { device_.set_offered(model, true); }
  /// The model takes no requests and starts no load. It leaves the memory when its batches have ended, whatever its
  /// lease. Returns the requests that waited for it.
  [[nodiscard]] std::vector<Request> withdraw(ModelIndex model);
  /// The model takes no new requests. Those that wait are answered, loads for them included; then it leaves the
  /// memory, whatever its lease.
  void let_go(ModelIndex model) { device_.set_offered(model, false); }
  /// Removes and returns the requests that wait for a model.
  [[nodiscard]] std::vector<Request> take_waiting(ModelIndex model);
  /// Removes and returns the requests that wait for any model, by number. For when there is no lane, or at the end.
  [[nodiscard]] std::vector<Request> take_waiting();
  /// The model should be resident, whoever asks for it: it goes before those that only requests ask for. Nothing if it
  /// is resident or takes no requests. It holds until a load ends or fails, or the model takes no requests.
  void want_load(ModelIndex model, Instant now) { device_.want_load(model, now); }
  /// The model makes no room for others until then, once it is resident; replaces its last lease. Nothing if it takes
  /// no requests.
  void lease(ModelIndex model, Instant until) { device_.lease(model, until); }
  /// No load of this model starts until then: the device refused it. An earlier instant ends a longer wait.
  void hold_off_load(ModelIndex model, Instant until) { device_.hold_off_load(model, until); }
  /// Removes a waiting request; false if it does not wait: it has started or ended.
  bool cancel(ModelIndex model, std::int64_t number);

  /// The batch that ended.
  RunningBatch end_batch(LaneIndex lane, Instant now);
  /// The lane never comes back. Returns its batch, if one ran: its requests are the caller's. The model of the batch
  /// stays in memory for good, because the batch may still use it. Requires: the lane is not lost yet.
  std::optional<RunningBatch> lose_lane(LaneIndex lane) { return device_.lose_lane(lane); }
  /// The load that runs ended as expected.
  void end_load() {
    device_.end_load();
    is_preload_due_ = true;
  }
  /// The load that runs ended: the model takes `measured` bytes, which replace its terms' and its reservation. False
  /// if there is no room for so many: the load goes on until `fail_load`, to be called when the caller has given the
  /// memory back. Requires: it is this model that loads.
  [[nodiscard]] bool end_load(ModelIndex model, std::int64_t measured) {
    is_preload_due_ = true;
    return device_.end_load(model, measured);
  }
  /// The load that runs failed, and its memory was given back: the model is cold. Requests still wait for it, and it
  /// will be tried again at once unless the caller withdraws the model or holds its load off. Requires: as `end_load`.
  void fail_load(ModelIndex model) { device_.fail_load(model); }
  /// Requires: at most as many rows as a batch of the model takes.
  void arrive(const Request& request, Instant now);
  /// Orders what should start, leave or be dropped now.
  void decide(Instant now);
  /// When `decide` may order something although nothing happens before; never() if nothing can come by itself.
  [[nodiscard]] Instant wake_at() const { return wake_at_; }

  /// Whether models are preloaded (EvictionRule::kWarm), even if that was stopped.
  [[nodiscard]] bool has_preloads() const;
  /// The probability that the model is asked for soon; nothing without preloads.
  [[nodiscard]] std::optional<double> chance_of(ModelIndex model) const;
  /// Whether it wakes up without an event to load what is expected (EvictionRule::kWarm).
  [[nodiscard]] bool is_looking_ahead() const;
  /// From now on nothing is loaded but what was asked for.
  void stop_preloads() { may_preload_ = false; }

  /// What Berth's policy compares models by when one must make room; nothing of a rival.
  [[nodiscard]] std::optional<double> value_of(ModelIndex model, Instant now) const;

  /// The orders since the last call, in their order.
  [[nodiscard]] std::vector<Order> take_orders();

 private:
  struct Berth {
    BerthPolicy batches;
    ModelLoads loads;
    std::optional<WarmDemand> warm = std::nullopt;  ///< of EvictionRule::kWarm
  };

  void decide_for(RivalPolicy& policy, Instant now);
  void decide_for(Berth& policy, Instant now);
  void drop_hopeless(Berth& policy, Instant now);
  void decide_loads(Berth& policy, Instant now);
  [[nodiscard]] ModelValues values_of(const Berth& policy, Instant now) const;
  /// What is worth it, if a step ended or a load did: else nothing has changed since nothing was.
  void preload(Berth& policy, Instant now);
  void start_decided(Berth& policy, LaneIndex lane, const BatchDecision& decision, Instant now);
  /// Why a request is not accepted.
  [[nodiscard]] std::optional<RejectReason> refusal(const Request& request, Instant now);
  [[nodiscard]] std::optional<FullQueue> full_queue(const Request& request) const;
  /// Evicts models that take no requests and are idle.
  void evict_gone(Instant now);
  /// When a load that is needed may start, if something but other work prevents it now.
  [[nodiscard]] Instant next_load_at(Instant now) const;
  void drop(Berth& policy, ModelIndex model, std::span<const std::size_t> positions, Instant now);
  void evict(ModelIndex model, Instant now);
  void start_load(StartLoad load, Instant now);
  const RunningBatch& start_batch(LaneIndex lane, ModelIndex model, std::vector<Request> requests, Instant now);

  DeviceState device_;
  std::variant<RivalPolicy, Berth> policy_;
  std::vector<Order> orders_;
  std::int64_t queue_max_ = 0;
  std::int64_t queue_bytes_max_ = 0;
  std::int64_t next_number_ = 0;  ///< above that of every request so far
  Instant wake_at_ = Instant::never();
  bool may_preload_ = true;
  bool is_preload_due_ = false;
};

}  // namespace berth::serving
