#include "serving/dispatch/berth_policy.h"

#include <algorithm>
#include <tuple>

#include "serving/dispatch/batch_window.h"

namespace berth::serving {
namespace {

/// What an idle device plans with: the rate that it measured is not exact.
constexpr double kLoadMargin = 0.95;

/// Up to this share of lane time, if each row ran alone, nobody needs all of what larger batches save.
constexpr double kAloneSpare = 0.4;

/// Lane time of a row in the largest batch.
Micros row_time_min(const LatencyTable& latency) {
  return Micros(latency.at(latency.rows_max()).count() / latency.rows_max());
}

double row_seconds_min(const LatencyTable& latency) {
  return latency.at(latency.rows_max()).to_seconds() / latency.rows_max();
}

}  // namespace

void BerthPolicy::learn_arrival(const Request& request, Instant now) {
  demand_[static_cast<std::size_t>(request.model)].learn_arrival(now, request.rows);
  feedback_[static_cast<std::size_t>(request.model)].learn_arrival(request.rows);
}

void BerthPolicy::learn_start(const RunningBatch& batch) {
  shares_.learn_start(batch.requests, batch.end - batch.start, batch.start);
  feedback_[static_cast<std::size_t>(batch.model)].learn_start(batch.requests, batch.start);
}

void BerthPolicy::learn_miss(const Request& request, const ServedModel& model, Instant now) {
  hold_.learn_miss();
  shares_.learn_miss(request.tenant, row_time_min(model.terms.latency) * request.rows, now);
}

void BerthPolicy::learn_end(const RunningBatch& batch, const ServedModel& model, Instant now) {
  feedback_[static_cast<std::size_t>(batch.model)].learn_end(now, demand(batch.model).rows_per_second(now));
  for (const Request& request : batch.requests) {
    if (now > request.deadline()) {
      learn_miss(request, model, now);
    } else {
      hold_.learn_in_time();
      shares_.learn_in_time();
    }
  }
}

BerthPolicy::Load BerthPolicy::load_of(const DeviceState& device, Instant now) const {
  double work = 0;        // lanes that are busy if every batch is as large as can be
  double work_alone = 0;  // if every row runs alone
  for (const ModelIndex index : Indices<ModelIndex>(device.models().size())) {
    const double rows_per_second = demand(index).rows_per_second(now);
    const LatencyTable& latency = device.model(index).terms.latency;
    work += rows_per_second * row_seconds_min(latency);
    work_alone += rows_per_second * latency.at(1).to_seconds();
  }
  constexpr double kStretchMax = 1e6;
  const double lanes = device.lanes_working();
  return {.stretch = work * kStretchMax > lanes * kLoadMargin ? lanes * kLoadMargin / work : kStretchMax,
          .alone = work_alone / lanes};
}

bool BerthPolicy::may_run(const ServedModel& model, const Request& request, Whom whom) const {
  return model.accepts(request) && (whom == Whom::kAll || shares_.is_within_share(request.tenant));
}

std::vector<BerthPolicy::FirstOfModel> BerthPolicy::most_urgent(const DeviceState& device, Whom whom) const {
  std::vector<FirstOfModel> all;
  for (const ModelIndex index : device.pending()) {
    const ServedModel& model = device.model(index);
    if (model.residency != Residency::kResident) continue;
    const auto first =
        std::ranges::find_if(model.queue, [&](const Request& request) { return may_run(model, request, whom); });
    if (first == model.queue.end()) continue;
    all.push_back({.model = index, .position = static_cast<std::size_t>(first - model.queue.begin())});
  }
  std::ranges::sort(all, {}, [&](const FirstOfModel& of_model) {
    const Request& request = device.model(of_model.model).queue[of_model.position];
    return std::tuple(request.urgency(), request.number);
  });
  return all;
}

BerthPolicy::Candidates BerthPolicy::candidates(const DeviceState& device, const FirstOfModel& first, Whom whom) const {
  const ServedModel& model = device.model(first.model);
  const std::uint64_t shape = model.queue[first.position].shape;
  const std::size_t count_max = kPassedOverMax + static_cast<std::size_t>(model.terms.latency.rows_max());
  Candidates found{.model = first.model, .waiting = {}, .positions = {}};
  for (std::size_t position = first.position; position < model.queue.size(); ++position) {
    const Request& request = model.queue[position];
    if (request.shape != shape || !may_run(model, request, whom)) continue;
    found.waiting.push_back(&request);
    found.positions.push_back(position);
    if (found.waiting.size() == count_max) break;
  }
  return found;
}

std::optional<BatchDecision> BerthPolicy::choose_batch(const DeviceState& device, Instant now) {
  wake_at_ = Instant::never();
  if (shares_.is_short()) {
    shares_.update_level(now);
    if (auto decision = choose_among(device, Whom::kWithinShare, now)) return decision;
  }
  return choose_among(device, Whom::kAll, now);
}

std::optional<BatchDecision> BerthPolicy::choose_among(const DeviceState& device, Whom whom, Instant now) {
  const std::vector<FirstOfModel> all = most_urgent(device, whom);
  if (all.empty()) return std::nullopt;
  const Load load = load_of(device, now);
  for (const FirstOfModel& first : all) {
    if (auto decision = decide(device, candidates(device, first, whom), load, now)) return decision;
  }
  return std::nullopt;
}

std::optional<BatchDecision> BerthPolicy::decide(const DeviceState& device, const Candidates& of_model,
                                                 const Load& load, Instant now) {
  const ServedModel& model = device.model(of_model.model);
  const LatencyTable& latency = model.terms.latency;
  const Request& most_urgent = *of_model.waiting.front();
  const RowCount rows_wanted =
      rows_to_keep_up(latency, most_urgent.target, device.lanes_working(), row_seconds_min(latency) * load.stretch);
  const BatchWindow window = find_batch_window(of_model.waiting, latency, rows_wanted, now);
  if (window.count == 0) return std::nullopt;
  if (window.first == 0 && window.count == of_model.waiting.size()) {
    ArrivalFeedback& feedback = feedback_[static_cast<std::size_t>(of_model.model)];
    const double worth = feedback.share() * std::min(load.alone / kAloneSpare, 1.0);
    const Instant until = held_until(model, most_urgent, window.rows, worth);
    if (until > now) {
      feedback.learn_hold(most_urgent, now, until);
      wake_at_ = std::min(wake_at_, until);
      return std::nullopt;
    }
  }
  const auto first = of_model.positions.begin() + static_cast<std::ptrdiff_t>(window.first);
  return BatchDecision{.model = of_model.model,
                       .taken = {first, first + static_cast<std::ptrdiff_t>(window.count)},
                       .dropped = {of_model.positions.begin(), first}};
}

Instant BerthPolicy::held_until(const ServedModel& model, const Request& most_urgent, RowCount rows,
                                double worth) const {
  const LatencyTable& latency = model.terms.latency;
  if (rows == latency.rows_max()) return most_urgent.arrival;
  return most_urgent.arrival +
         hold_.of({.target = most_urgent.target, .with_one_more = latency.at(rows + 1), .rows = rows, .worth = worth});
}

}  // namespace berth::serving
