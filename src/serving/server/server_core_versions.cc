// Versions of models: from the repository, loaded, replaced, unloaded.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/core/ensure.h"
#include "base/core/text.h"
#include "serving/server/server_core.h"

namespace berth::serving {
namespace {

/// A load that the device refused is tried again after so long.
constexpr Micros kRefusedLoadPause = Micros(10'000'000);

/// Until a model was loaded once, nobody knows how long its batches take: optimistic, so that nothing is refused for
/// it.
constexpr Micros kUnknownBatch = Micros(1'000);

/// The first rows of a table, or all.
LatencyTable table_of(const LatencyTable& latency, RowCount rows_max) {
  std::vector<Micros> times;
  for (RowCount rows = 1; rows <= std::min(rows_max, latency.rows_max()); ++rows) times.push_back(latency.at(rows));
  return LatencyTable(std::move(times));
}

LatencyTable unknown_latency(RowCount rows_max) {
  return LatencyTable(std::vector<Micros>(static_cast<std::size_t>(rows_max), kUnknownBatch));
}

ModelTerms dispatch_terms(const ServedVersion& version, const std::optional<ModelTerms>& simulated,
                          std::int64_t memory) {
  const RowCount rows_max = version.is_batched ? static_cast<RowCount>(version.terms.rows_max) : 1;
  ModelTerms terms{.name = version.model,
                   .bytes = std::min(expected_bytes(version.terms.weight_bytes), memory),
                   .load = expected_load(file_bytes(version.source)),
                   .latency = unknown_latency(rows_max),
                   .queue_max = version.terms.queue_max.value_or(0)};
  if (simulated) {
    terms.bytes = simulated->bytes;
    terms.load = simulated->load;
    terms.latency = version.latency->table();
  }
  return terms;
}

/// A lane is busy for as long as the file of the device states; what the machine adds is learned as on a real one.
void simulate_latency(ServedVersion& version, const LatencyTable& latency) {
  const RowCount rows_max = version.is_batched ? static_cast<RowCount>(version.terms.rows_max) : 1;
  version.simulated = table_of(latency, rows_max);
  std::vector<LatencyPoint> points;
  for (RowCount rows = 1; rows <= version.simulated->rows_max(); ++rows) {
    points.push_back({.rows = rows, .time = version.simulated->at(rows)});
  }
  version.latency.emplace(points, version.simulated->rows_max());
}

/// Whether they serve the same.
bool is_same(const RepositoryVersion& a, const RepositoryVersion& b) {
  return a.number == b.number && a.path == b.path && a.files == b.files && a.terms == b.terms;
}

}  // namespace

// What is in the repository

void ServerCore::take_repository(const RepositoryModels& models, Instant now) {
  now_ = now;
  remove_missing(models);
  for (const auto& [name, model] : models) take_model(model, now);
  decide(now);
}

void ServerCore::remove_missing(const RepositoryModels& models) {
  std::erase_if(models_, [&](const auto& named) {
    if (models.contains(named.first)) return false;
    for (const ModelIndex index : named.second.versions) remove(index);
    for (const ModelIndex index : named.second.arriving) remove(index);
    return true;
  });
}

ModelIndex ServerCore::add_version(const std::string& model, const RepositoryVersion& source) {
  ServedVersion version{.model = model, .source = source};
  if (source.terms) {
    version.terms = *source.terms;
    version.is_batched = version.terms.rows_max > 0 && !version.terms.needs_proof;
  } else {
    version.reason = source.terms.error().message;
  }
  version.statistics.name = model;
  version.statistics.version = std::to_string(source.number);
  std::optional<ModelTerms> simulated;
  if (terms_.simulated) simulated = terms_.simulated(model);
  if (simulated) simulate_latency(version, simulated->latency);
  if (version.reason.empty()) version.reason = why_it_cannot_fit(version, simulated);
  const ModelIndex index = dispatcher_.add_model(dispatch_terms(version, simulated, terms_.dispatch.memory));
  versions_.push_back(std::move(version));
  figures_.add_model(index, model, at(index).statistics.version, now_);
  if (!at(index).reason.empty()) fail_version(index, at(index).reason);
  return index;
}

std::string ServerCore::why_it_cannot_fit(const ServedVersion& version,
                                          const std::optional<ModelTerms>& simulated) const {
  if (terms_.simulated && !simulated) return "the file of the simulated device has no latencies for it";
  const std::int64_t bytes = simulated ? simulated->bytes : version.terms.weight_bytes;
  if (bytes <= terms_.dispatch.memory) return "";
  return fmt::format("it takes at least {} bytes of memory, and there are {}", bytes, terms_.dispatch.memory);
}

void ServerCore::take_model(const RepositoryModel& model, Instant now) {
  NamedModel& named = models_[model.name];
  named.reason = model.fault.empty() && model.versions.empty() ? "it has no version" : model.fault;
  const auto is_wanted = [&](ModelIndex index) {
    return std::ranges::any_of(model.versions, [&](const auto& source) { return is_same(source, at(index).source); });
  };
  std::erase_if(named.arriving, [&](ModelIndex index) {
    if (is_wanted(index)) return false;
    remove(index);
    return true;
  });
  bool has_obsolete = false;
  for (const ModelIndex index : named.versions) {
    at(index).is_obsolete = !is_wanted(index);
    has_obsolete = has_obsolete || at(index).is_obsolete;
  }
  for (const RepositoryVersion& source : model.versions) add_if_new(named, model.name, source, has_obsolete, now);
  if (named.arriving.empty()) remove_obsolete(named);  // nothing will replace them
}

void ServerCore::add_if_new(NamedModel& named, const std::string& model, const RepositoryVersion& source,
                            bool is_replacing, Instant now) {
  const auto is_it = [&](ModelIndex index) { return is_same(source, at(index).source); };
  if (std::ranges::any_of(named.versions, is_it) || std::ranges::any_of(named.arriving, is_it)) return;
  const ModelIndex index = add_version(model, source);
  named.arriving.push_back(index);
  if (!is_replacing || named.is_unloaded) {
    replace(named, index, now);
  } else if (at(index).reason.empty()) {
    dispatcher_.want_load(index, now);
  }
}

void ServerCore::remove_obsolete(NamedModel& named) {
  std::erase_if(named.versions, [&](ModelIndex index) {
    if (at(index).is_obsolete) remove(index);
    return at(index).is_obsolete;
  });
}

void ServerCore::replace(NamedModel& named, ModelIndex arrived, Instant now) {
  std::erase(named.arriving, arrived);
  remove_obsolete(named);
  const auto number_of = [&](ModelIndex index) { return at(index).source.number; };
  const auto place = std::ranges::upper_bound(named.versions, number_of(arrived), {}, number_of);
  named.versions.insert(place, arrived);
  if (named.is_unloaded) let_go(arrived);
  decide(now);
}

void ServerCore::let_go(ModelIndex index) {
  dispatcher_.let_go(index);
  tell_loaded(index, refuse(ServeFault::kUnavailable, "the model was unloaded"));
}

void ServerCore::remove(ModelIndex index) {
  let_go(index);
  figures_.remove_model(index, now_);
}

void ServerCore::fail_version(ModelIndex index, const std::string& reason) {
  ServedVersion& version = at(index);
  version.reason = reason;
  const ServeError error{.fault = ServeFault::kUnavailable, .message = reason};
  refuse_all(dispatcher_.withdraw(index), error);
  tell_loaded(index, tl::unexpected<ServeError>(error));
}

// Loads that end

void ServerCore::end_load(ModelIndex model, Result<LoadedVersion> loaded, Instant now) {
  ServedVersion& version = at(model);
  const ModelTerms& before = dispatcher_.device().model(model).terms;
  if (!loaded) {
    fail_load(model, loaded.error(), now);
  } else if (!dispatcher_.end_load(
                 model, loaded->measured_bytes > 0 && !terms_.simulated ? loaded->measured_bytes : before.bytes)) {
    version.is_too_large = true;
    ++version.frees_left;
    work_.emplace_back(FreeWork{.model = model, .loaded = std::move(loaded->model)});
  } else {
    version.loaded = std::move(loaded->model);
    if (loaded->measured_bytes > 0 && !terms_.simulated) version.measured_bytes = loaded->measured_bytes;
    version.load_time = terms_.simulated ? before.load : loaded->load_time;
    version.load_ended = now;
    figures_.end_load(model, *version.load_time);
    if (!loaded->sha256.empty()) version.sha256 = std::move(loaded->sha256);
    learn_trial(model, loaded->trial, loaded->load_time, now);
    arrive(model, now);
  }
  decide(now);
}

void ServerCore::fail_load(ModelIndex model, const Error& error, Instant now) {
  dispatcher_.fail_load(model);
  if (error.code != ErrorCode::kUnavailable) return fail_version(model, error.message);
  dispatcher_.hold_off_load(model, now + kRefusedLoadPause);
  const ModelTerms& terms = dispatcher_.device().model(model).terms;
  const ServeError refusal{.fault = ServeFault::kUnavailable,
                           .message = fmt::format("{}: the device has no room for {} bytes: {}", in_quotes(terms.name),
                                                  terms.bytes, error.message),
                           .retry_after = kRefusedLoadPause};
  refuse_all(dispatcher_.take_waiting(model), refusal);
  tell_loaded(model, tl::unexpected<ServeError>(refusal));
}

void ServerCore::learn_trial(ModelIndex model, const Trial& trial, Micros load_time, Instant now) {
  ServedVersion& version = at(model);
  const bool was_batched = version.is_batched;
  version.is_batched = version.terms.rows_max > 0 && (was_batched || trial.why_not_batched.empty());
  if (!version.is_batched) version.terms.rows_max = 0;  // each request runs alone, with any number of rows
  ModelTerms terms = dispatcher_.device().model(model).terms;
  if (version.simulated) {
    if (version.is_batched == was_batched) return;
    simulate_latency(version, terms_.simulated(version.model)->latency);
    terms.latency = version.latency->table();
  } else {
    terms.load = std::max(load_time, Micros(1));
    // The file's copy is there, too. A model that could be loaded once can be loaded again, if need be with all memory.
    terms.bytes_loading = std::min(terms.bytes + version.terms.weight_bytes, terms_.dispatch.memory);
    const RowCount rows_max = version.is_batched ? static_cast<RowCount>(version.terms.rows_max) : 1;
    std::vector<LatencyPoint> points = trial.times;
    std::erase_if(points, [&](const LatencyPoint& point) { return point.rows > rows_max; });
    if (!points.empty()) version.latency.emplace(points, rows_max);
    terms.latency = version.latency ? version.latency->table() : unknown_latency(rows_max);
  }
  if (version.is_batched != was_batched) return begin_batching(model, std::move(terms), now);
  const std::vector<Request> too_large = dispatcher_.set_terms(model, std::move(terms));
  ENSURE(too_large.empty());  // a batch takes as many rows as before
}

void ServerCore::begin_batching(ModelIndex model, ModelTerms terms, Instant now) {
  const std::vector<Request> waiting = dispatcher_.take_waiting(model);
  const std::vector<Request> too_large = dispatcher_.set_terms(model, std::move(terms));
  ENSURE(too_large.empty());
  for (const Request& request : waiting) {
    AcceptedRequest& accepted = waiting_.at(request.number);
    accepted.terms = with_shape(accepted.terms, accepted.shape, true);
    dispatcher_.arrive(accepted.terms, now);
  }
}

void ServerCore::arrive(ModelIndex model, Instant now) {
  now_ = now;
  tell_loaded(model, true);
  const auto named = models_.find(at(model).model);
  if (named == models_.end() || std::ranges::find(named->second.arriving, model) == named->second.arriving.end())
    return;
  replace(named->second, model, now);
}

void ServerCore::end_free(ModelIndex model, Instant now) {
  ServedVersion& version = at(model);
  --version.frees_left;
  if (std::exchange(version.is_too_large, false)) {
    dispatcher_.fail_load(model);
    const std::int64_t bytes = dispatcher_.device().model(model).terms.bytes;
    if (bytes > terms_.dispatch.memory) {
      fail_version(model, fmt::format("it takes {} bytes of memory, and there are {}", bytes, terms_.dispatch.memory));
    }
  }
  decide(now);
}

std::optional<SumWork> ServerCore::next_sum() const {
  for (std::size_t i = 0; i < versions_.size(); ++i) {
    const ServedVersion& version = versions_[i];
    if (!version.loaded || !version.sha256.empty() || version.has_no_sum) continue;
    return SumWork{.model = ModelIndex(static_cast<std::uint32_t>(i)), .file = model_file(version)};
  }
  return std::nullopt;
}

void ServerCore::end_sum(ModelIndex model, const std::optional<std::string>& sha256) {
  at(model).sha256 = sha256.value_or("");
  at(model).has_no_sum = !sha256;
}

// Loads and unloads that clients ask for

void ServerCore::load(std::string_view model, Micros lease, InferenceService::ModelDone done, Instant now) {
  const auto tell_now = [&](ServeResult<bool> result) {
    work_.emplace_back(TellWork([done, result = std::move(result)] { done(result); }));
  };
  const auto named = models_.find(model);
  if (named == models_.end()) return tell_now(tl::unexpected<ServeError>(find_named(model).error()));
  const auto index = find_version(model, "");
  if (!index) return tell_now(tl::unexpected<ServeError>(index.error()));
  ServedVersion& version = at(*index);
  if (is_ending_) return tell_now(refuse(ServeFault::kUnavailable, "the server ends"));
  dispatcher_.hold_off_load(*index, now);
  if (auto refusal = why_it_cannot_load(*index, now)) return tell_now(tl::unexpected(std::move(*refusal)));
  named->second.is_unloaded = false;
  for (const ModelIndex each : named->second.versions) {
    if (at(each).source.terms) dispatcher_.offer(each);
  }
  version.reason.clear();  // of a load that failed: it is tried again
  if (version.loaded && dispatcher_.device().model(*index).residency == Residency::kResident) {
    if (lease.count() > 0) dispatcher_.lease(*index, now + lease);
    return tell_now(true);
  }
  version.load_waiters.push_back({.lease = lease, .done = std::move(done)});
  dispatcher_.want_load(*index, now);
  decide(now);
}

std::optional<ServeError> ServerCore::why_it_cannot_load(ModelIndex index, Instant now) const {
  const ServedVersion& version = at(index);
  const bool is_unknown = terms_.simulated && !terms_.simulated(version.model);
  if (!version.source.terms || is_unknown) {
    return ServeError{.fault = ServeFault::kUnavailable, .message = version.reason};
  }
  const DeviceState& device = dispatcher_.device();
  const ServedModel& model = device.model(index);
  const Instant room_at = device.may_load_at(index, now);
  if (model.residency != Residency::kCold || room_at == now) return std::nullopt;
  ServeError refusal{.fault = ServeFault::kUnavailable,
                     .message = fmt::format("{}: wanted {} bytes of memory, found less of {} bytes that is not leased "
                                            "to other models",
                                            in_quotes(version.model), model.bytes_to_load(), device.memory())};
  if (room_at != Instant::never()) refusal.retry_after = room_at - now;
  return refusal;
}

void ServerCore::tell_loaded(ModelIndex index, const ServeResult<bool>& result) {
  for (LoadWaiter& waiter : std::exchange(at(index).load_waiters, {})) {
    if (result && waiter.lease.count() > 0) dispatcher_.lease(index, now_ + waiter.lease);
    work_.emplace_back(TellWork([done = std::move(waiter.done), result] { done(result); }));
  }
}

void ServerCore::unload(std::string_view model, InferenceService::ModelDone done, Instant now) {
  const auto named = models_.find(model);
  if (named == models_.end()) {
    auto error = find_named(model).error();
    work_.emplace_back(TellWork([done = std::move(done), error] { done(tl::unexpected<ServeError>(error)); }));
    return;
  }
  named->second.is_unloaded = true;
  const auto left = std::make_shared<std::size_t>(named->second.versions.size() + 1);
  const auto one_done = [left, done = std::move(done)](const ServeResult<bool>& result) {
    if (--*left == 0) done(result);
  };
  for (const ModelIndex index : named->second.versions) {
    let_go(index);
    at(index).gone_waiters.push_back(one_done);
    ++gone_waiter_count_;
  }
  work_.emplace_back(TellWork([one_done] { one_done(true); }));
  decide(now);
}

void ServerCore::tell_if_gone(ModelIndex index) {
  ServedVersion& version = at(index);
  const ServedModel& model = dispatcher_.device().model(index);
  if (version.gone_waiters.empty() || version.frees_left > 0 || model.residency != Residency::kCold ||
      !model.queue.empty()) {
    return;
  }
  for (auto& done : std::exchange(version.gone_waiters, {})) {
    --gone_waiter_count_;
    work_.emplace_back(TellWork([done = std::move(done)] { done(true); }));
  }
}

}  // namespace berth::serving
