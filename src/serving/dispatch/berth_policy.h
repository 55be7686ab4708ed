/// Berth's own policy: the earliest deadline first across models, requests that can no longer be in time are dropped
/// early, and a batch waits for more rows as long as that misses no deadline and brings rows. Where lanes are short,
/// tenants within their share of lane time go first.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "serving/dispatch/arrival_feedback.h"
#include "serving/dispatch/device_state.h"
#include "serving/dispatch/hold_length.h"
#include "serving/dispatch/lane_shares.h"
#include "serving/dispatch/model_demand.h"

namespace berth::serving {

/// A batch to start. Positions in the queue of its model, ascending.
struct BatchDecision {
  ModelIndex model;
  std::vector<std::size_t> taken;
  std::vector<std::size_t> dropped;  ///< requests that would make the batch too small
};

class BerthPolicy {
 public:
  explicit BerthPolicy(const std::vector<TenantTerms>& tenants) : shares_(tenants) {}

  void add_model() {
    demand_.emplace_back();
    feedback_.emplace_back();
  }

  /// Learns from an arrival, admitted or not.
  void learn_arrival(const Request& request, Instant now);
  void learn_start(const RunningBatch& batch);
  void learn_end(const RunningBatch& batch, const ServedModel& model, Instant now);
  /// Learns that a request was rejected, dropped or late.
  void learn_miss(const Request& request, const ServedModel& model, Instant now);

  /// The batch for a free lane; nothing if none should start now, and then `wake_at()` says when one may.
  [[nodiscard]] std::optional<BatchDecision> choose_batch(const DeviceState& device, Instant now);
  /// never() if only an event can change what `choose_batch` returned.
  [[nodiscard]] Instant wake_at() const { return wake_at_; }

  [[nodiscard]] const LaneShares& shares() const { return shares_; }
  /// By model.
  [[nodiscard]] std::span<const ModelDemand> demands() const { return demand_; }
  [[nodiscard]] const ModelDemand& demand(ModelIndex model) const { return demand_[static_cast<std::size_t>(model)]; }

 private:
  /// The most urgent request of a model that may run now.
  struct FirstOfModel {
    ModelIndex model;
    std::size_t position = 0;
  };

  /// Requests that may run in one batch now, and their positions; of a long queue only as many as matter.
  struct Candidates {
    ModelIndex model;
    std::vector<const Request*> waiting;
    std::vector<std::size_t> positions;
  };

  /// What the arrivals of all models ask of the lanes.
  struct Load {
    double stretch = 1;  ///< how much longer than its shortest lane time a row may take so that all can be served
    double alone = 0;    ///< share of the lanes' time, if each row ran alone; may be above 1
  };

  enum class Whom { kAll, kWithinShare };

  [[nodiscard]] std::optional<BatchDecision> choose_among(const DeviceState& device, Whom whom, Instant now);
  [[nodiscard]] bool may_run(const ServedModel& model, const Request& request, Whom whom) const;
  /// Of all resident models that have one, the most urgent first.
  [[nodiscard]] std::vector<FirstOfModel> most_urgent(const DeviceState& device, Whom whom) const;
  [[nodiscard]] Candidates candidates(const DeviceState& device, const FirstOfModel& first, Whom whom) const;
  [[nodiscard]] Load load_of(const DeviceState& device, Instant now) const;
  [[nodiscard]] std::optional<BatchDecision> decide(const DeviceState& device, const Candidates& candidates,
                                                    const Load& load, Instant now);
  /// Until when the batch waits for more rows, whose worth is 0 to 1; not after `now` if it should not.
  [[nodiscard]] Instant held_until(const ServedModel& model, const Request& most_urgent, RowCount rows,
                                   double worth) const;

  std::vector<ModelDemand> demand_;
  std::vector<ArrivalFeedback> feedback_;
  LaneShares shares_;
  HoldLength hold_;
  Instant wake_at_ = Instant::never();
};

}  // namespace berth::serving
