#include "serving/server/server_core.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/core/ensure.h"
#include "base/core/text.h"
#include "serving/server/check_request.h"

namespace berth::serving {
namespace {

ServeError refusal_of(const Reject& reject) {
  ServeError error{.fault = ServeFault::kRejected, .message = describe(reject), .retry_after = Micros(1'000'000)};
  if (const auto* wait = std::get_if<ExpectedWait>(&reject.reason)) error.retry_after = wait->total();
  if (std::holds_alternative<NotServed>(reject.reason)) error.fault = ServeFault::kUnavailable;
  return error;
}

std::vector<std::string> names_of(const std::vector<TenantTerms>& tenants) {
  std::vector<std::string> names;
  names.reserve(tenants.size());
  for (const TenantTerms& tenant : tenants) names.push_back(tenant.name);
  return names;
}

/// Of a request that was not answered.
RequestOutcome outcome_of(ServeFault fault) {
  switch (fault) {
    case ServeFault::kRejected:
      return RequestOutcome::kRejected;
    case ServeFault::kExpired:
      return RequestOutcome::kExpired;
    case ServeFault::kCancelled:
      return RequestOutcome::kCancelled;
    case ServeFault::kMalformed:
    case ServeFault::kNoKey:
    case ServeFault::kUnknown:
    case ServeFault::kTooLarge:
    case ServeFault::kEngineFailed:
    case ServeFault::kNotOffered:
    case ServeFault::kUnavailable:
      break;
  }
  return RequestOutcome::kFailed;
}

RowCount rows_in(const std::vector<Request>& requests) {
  RowCount rows = 0;
  for (const Request& request : requests) rows += request.rows;
  return rows;
}

void add_to(DurationSum& sum, Micros duration) {
  ++sum.count;
  sum.sum += duration;
}

void count_batch(ModelStatistics& statistics, const RunningBatch& batch, const RunReport& report, Instant now) {
  ++statistics.batches;
  for (std::size_t i = 0; i < batch.requests.size(); ++i) {
    const Request& request = batch.requests[i];
    if (!report.is_answered[i]) {
      add_to(statistics.failed, now - request.arrival);
      continue;
    }
    add_to(statistics.answered, now - request.arrival);
    add_to(statistics.queued, batch.start - request.arrival);
    add_to(statistics.input, report.input);
    add_to(statistics.run, report.run);
    add_to(statistics.output, report.output);
    statistics.rows += static_cast<std::uint64_t>(request.rows);
  }
  auto& sizes = statistics.batch_sizes;
  auto size = std::ranges::lower_bound(sizes, batch.rows, {}, &BatchStatistics::rows);
  if (size == sizes.end() || size->rows != batch.rows) size = sizes.insert(size, {.rows = batch.rows, .run = {}});
  add_to(size->run, report.run);
}

}  // namespace

ServerCore::ServerCore(ServerTerms terms)
    : terms_(std::move(terms)),
      dispatcher_({}, terms_.tenants, terms_.dispatch),
      figures_(names_of(terms_.tenants), terms_.dispatch.lanes),
      lanes_left_(terms_.dispatch.lanes) {}

// Requests

ServeResult<const ServerCore::NamedModel*> ServerCore::find_named(std::string_view model) const {
  const auto named = models_.find(model);
  if (named == models_.end()) {
    return refuse(ServeFault::kUnknown, fmt::format("wanted a model of the repository, found {}", in_quotes(model)));
  }
  return &named->second;
}

ServeResult<ModelIndex> ServerCore::find_version(std::string_view model, std::string_view version) const {
  const auto named = find_named(model);
  if (!named) return tl::unexpected<ServeError>(named.error());
  const auto& versions = (*named)->versions;
  if (version.empty()) {
    if (!versions.empty()) return versions.back();
    return refuse(ServeFault::kUnavailable, fmt::format("{}: {}", in_quotes(model), (*named)->reason));
  }
  const auto found = std::ranges::find_if(versions, [&](ModelIndex i) { return at(i).statistics.version == version; });
  if (found != versions.end()) return *found;
  return refuse(ServeFault::kUnknown,
                fmt::format("wanted a version of {} that serves, found {}", in_quotes(model), in_quotes(version)));
}

ServeResult<ServerCore::Accepted> ServerCore::accept(InferRequest& request, Instant now) const {
  if (is_ending_) return refuse(ServeFault::kUnavailable, "the server ends and takes no more requests");
  if (lanes_left_ == 0) return refuse(ServeFault::kUnavailable, "the server has no lane left");
  const auto index = find_version(request.model, request.version);
  if (!index) return tl::unexpected<ServeError>(index.error());
  const ServedVersion& version = at(*index);
  if (!version.reason.empty()) {
    return refuse(ServeFault::kUnavailable,
                  fmt::format("{} cannot serve: {}", in_quotes(version.model), version.reason));
  }
  if (models_.find(request.model)->second.is_unloaded) {
    return refuse(ServeFault::kUnavailable, fmt::format("{} was unloaded, load it first", in_quotes(version.model)));
  }
  const auto shape = check_request(version.terms, request);
  if (!shape) return tl::unexpected<ServeError>(shape.error());
  request.version = version.statistics.version;
  return Accepted{
      .terms = with_shape({.number = next_number_,
                           .model = *index,
                           .tenant = request.tenant,
                           .arrival = now,
                           .target = std::min(version.terms.target, request.timeout.value_or(version.terms.target)),
                           .priority = request.priority},
                          *shape, version.is_batched),
      .shape = *shape};
}

ServerCore::RequestNumber ServerCore::infer(InferRequest request, InferenceService::AnswerDone done, Instant now) {
  auto accepted = accept(request, now);
  if (!accepted) {
    count_refused(request, accepted.error(), now);
    work_.emplace_back(TellWork(
        [done = std::move(done), error = std::move(accepted.error())] { done(tl::unexpected<ServeError>(error)); }));
    return next_number_++;
  }
  const std::int64_t number = next_number_++;
  waiting_.emplace(
      number,
      AcceptedRequest{
          .terms = accepted->terms, .request = std::move(request), .shape = accepted->shape, .done = std::move(done)});
  figures_.arrive(accepted->terms.model, accepted->terms.tenant, now);
  dispatcher_.arrive(accepted->terms, now);
  decide(now);
  return number;
}

/// A malformed request is none of any model.
void ServerCore::count_refused(const InferRequest& request, const ServeError& error, Instant now) {
  if (error.fault != ServeFault::kUnavailable) return;
  const auto index = find_version(request.model, request.version);
  if (index) figures_.arrive_and_end(*index, request.tenant, outcome_of(error.fault), now);
}

void ServerCore::cancel(RequestNumber number, Instant now) {
  const auto found = waiting_.find(number);
  if (found == waiting_.end() || !dispatcher_.cancel(found->second.terms.model, number)) return;
  tell(take_waiting(number), {.fault = ServeFault::kCancelled, .message = "its client left"});
  decide(now);
}

AcceptedRequest ServerCore::take_waiting(std::int64_t number) {
  auto node = waiting_.extract(number);
  ENSURE(!node.empty());
  return std::move(node.mapped());
}

void ServerCore::tell(AcceptedRequest request, ServeError error) {
  ServedVersion& version = at(request.terms.model);
  ++version.statistics.failed.count;
  figures_.end_waiting(request.terms, outcome_of(error.fault), now_);
  work_.emplace_back(TellWork(
      [done = std::move(request.done), error = std::move(error)] { done(tl::unexpected<ServeError>(error)); }));
}

void ServerCore::refuse_all(const std::vector<Request>& requests, const ServeError& error) {
  for (const Request& request : requests) tell(take_waiting(request.number), error);
}

void ServerCore::refuse_waiting(Instant now) {
  refuse_all(dispatcher_.take_waiting(), {.fault = ServeFault::kUnavailable, .message = "the server ends"});
  decide(now);
}

// What the dispatcher orders

void ServerCore::tick(Instant now) { decide(now); }

void ServerCore::decide(Instant now) {
  now_ = now;
  dispatcher_.decide(now);
  for (Order& order : dispatcher_.take_orders()) {
    std::visit([&](auto& kind) { carry_out(kind); }, order);
  }
  for (std::size_t i = 0; gone_waiter_count_ > 0 && i < versions_.size(); ++i) {
    tell_if_gone(ModelIndex(static_cast<std::uint32_t>(i)));
  }
}

void ServerCore::carry_out(StartBatch& order) {
  const ServedVersion& version = at(order.model);
  RunWork run{
      .lane = order.lane,
      .model = order.model,
      .loaded = version.loaded,
      .requests = {},
      .version = version.statistics.version,
      .has_rows = version.is_batched,
      .load = version.load_ended ? std::optional(std::pair(version.load_began, *version.load_ended)) : std::nullopt,
      .held_until = version.simulated ? now_ + version.simulated->at(rows_in(order.requests)) : Instant()};
  for (const Request& request : order.requests) run.requests.push_back(take_waiting(request.number));
  running_ += static_cast<std::int64_t>(run.requests.size());
  figures_.start_batch(order.lane, order.model, order.requests, now_);
  work_.emplace_back(std::move(run));
}

void ServerCore::carry_out(const StartLoad& order) {
  ++loads_;
  ServedVersion& version = at(order.model);
  figures_.begin_load(order.model, order.is_preload);
  version.load_began = now_;
  version.load_ended = std::nullopt;
  work_.emplace_back(
      LoadWork{.model = order.model,
               .file = model_file(version),
               .weight_bytes = version.terms.weight_bytes,
               .trial = {.rows_max = static_cast<RowCount>(std::max<std::int64_t>(version.terms.rows_max, 1)),
                         .is_batched = version.terms.rows_max > 0,
                         .needs_proof = version.terms.needs_proof && version.terms.rows_max > 0 && !version.is_batched,
                         .is_measured = version.latency.has_value() || terms_.simulated != nullptr},
               .hold = terms_.simulated ? dispatcher_.device().model(order.model).terms.load : Micros(0)});
}

void ServerCore::carry_out(const Evict& order) {
  ++evictions_;
  ServedVersion& version = at(order.model);
  ++version.frees_left;
  figures_.evict(order.model);
  work_.emplace_back(FreeWork{.model = order.model, .loaded = std::exchange(version.loaded, nullptr)});
}

void ServerCore::carry_out(const Reject& order) { tell(take_waiting(order.request.number), refusal_of(order)); }

void ServerCore::carry_out(const Drop& order) {
  tell(take_waiting(order.request.number),
       {.fault = ServeFault::kExpired,
        .message = fmt::format("it waited until it could no longer be answered within {} ms",
                               static_cast<double>(order.request.target.count()) / 1000)});
}

// Runs and loads that end

void ServerCore::end_run(const RunReport& report, Instant now) {
  const RunningBatch batch = dispatcher_.end_batch(report.lane, now);
  running_ -= static_cast<std::int64_t>(batch.requests.size());
  ModelStatistics& statistics = at(batch.model).statistics;
  count_batch(statistics, batch, report, now);
  statistics.last_answer_ms = figures_.wall_us(now) / 1000;
  figures_.end_batch(report.lane, batch, report.is_answered, report.input + report.run + report.output, now);
  learn_latency(batch, now - batch.start);
  decide(now);
}

/// What hands a batch to its lane and back counts, too: `taken` is how long no other could run.
void ServerCore::learn_latency(const RunningBatch& batch, Micros taken) {
  ServedVersion& version = at(batch.model);
  if (!version.latency || !version.latency->learn(batch.rows, taken)) return;
  ModelTerms terms = dispatcher_.device().model(batch.model).terms;
  terms.latency = version.latency->table();
  const std::vector<Request> too_large = dispatcher_.set_terms(batch.model, std::move(terms));
  ENSURE(too_large.empty());
}

void ServerCore::lose_lane(LaneIndex lane, const std::string& reason, Instant now) {
  const auto batch = dispatcher_.lose_lane(lane);
  --lanes_left_;
  if (batch) {
    running_ -= static_cast<std::int64_t>(batch->requests.size());
    figures_.end_batch(lane, *batch, std::vector<bool>(batch->requests.size()), std::nullopt, now);
    fail_version(batch->model, reason);
  }
  if (lanes_left_ == 0) {
    refuse_all(dispatcher_.take_waiting(),
               {.fault = ServeFault::kUnavailable, .message = "the server has no lane left"});
  }
  decide(now);
}

}  // namespace berth::serving
