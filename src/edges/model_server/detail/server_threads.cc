#include "edges/model_server/detail/server_threads.h"

#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <new>
#include <span>

#include "edges/model_server/detail/file_sum.h"
#include "edges/model_server/detail/request_spans.h"
#include "serving/batching/batch_tensors.h"
#include "serving/batching/model_trial.h"

namespace berth::edges::detail {
namespace {

using serving::AcceptedRequest;
using serving::FreeWork;
using serving::InferAnswer;
using serving::LoadedVersion;
using serving::LoadWork;
using serving::RunWork;
using serving::ServeError;
using serving::ServeFault;
using serving::ServeResult;
using serving::TellWork;

/// How long a lane has to come back after its run was told to end.
constexpr Micros kStopGrace = Micros(5'000'000);

/// What the C library has given out.
std::int64_t allocated_bytes() {
  const struct mallinfo2 info = mallinfo2();
  return static_cast<std::int64_t>(info.uordblks + info.hblkhd);
}

/// What a model takes, if `growth` is what the process has allocated since before its load: other threads take and give
/// memory meanwhile. The engine knows what weights and runs take, but not what its own structures do.
std::int64_t measured_bytes(std::int64_t growth, const LoadedModel& model, std::int64_t weight_bytes) {
  constexpr std::int64_t kStructuresMax = std::int64_t{4} << 20U;
  const std::int64_t known = model.bytes();
  if (known == 0) return std::max(growth, weight_bytes);
  return std::max({std::clamp(growth, known, known + kStructuresMax), weight_bytes});
}

/// The outputs that a request asked for, in its order.
std::vector<Tensor> wanted_outputs(const std::vector<std::string>& wanted, std::vector<Tensor> outputs) {
  if (wanted.empty()) return outputs;
  std::vector<Tensor> chosen;
  for (const std::string& name : wanted) {
    const auto found = std::ranges::find(outputs, name, &Tensor::name);
    if (found != outputs.end()) chosen.push_back(*found);
  }
  return chosen;
}

serving::RowCount rows_in(const AcceptedRequest& request) { return request.terms.rows; }

/// The outputs of each request of a batch.
Result<std::vector<std::vector<Tensor>>> parts_of(const RunWork& work, std::vector<Tensor> outputs) {
  if (!work.has_rows) {
    std::vector<std::vector<Tensor>> alone;
    alone.push_back(std::move(outputs));
    return alone;
  }
  std::vector<serving::RowCount> rows;
  rows.reserve(work.requests.size());
  for (const AcceptedRequest& request : work.requests) rows.push_back(rows_in(request));
  return serving::split_rows(std::move(outputs), rows);
}

std::vector<Tensor> batch_of(const RunWork& work) {
  std::vector<const std::vector<Tensor>*> inputs;
  inputs.reserve(work.requests.size());
  for (const AcceptedRequest& request : work.requests) inputs.push_back(&request.request.inputs);
  return serving::join_rows(inputs);
}

}  // namespace

ServerThreads::ServerThreads(ModelEngine* engine, const ModelServerOptions& options)
    : engine_(engine), options_(options), core_(options.terms) {
  for (int i = 0; i < options.terms.dispatch.lanes; ++i) lanes_.push_back(std::make_unique<Lane>());
}

Instant ServerThreads::now() const {
  return Instant(std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - began_).count());
}

ServerThreads::Clock::time_point ServerThreads::time_of(Instant at) const {
  constexpr std::int64_t kFarOff = std::int64_t{3600} * 1'000'000;
  return began_ + std::chrono::microseconds(std::min(at.micros(), now().micros() + kFarOff));
}

void ServerThreads::start(const std::shared_ptr<ServerThreads>& self) {
  {
    const serving::RepositoryModels models = options_.scan();
    std::unique_lock lock(lock_);
    is_started_ = true;
    core_.take_repository(models, now());
    hand_out(lock);
  }
  for (std::size_t i = 0; i < lanes_.size(); ++i) lanes_[i]->thread = std::thread([self, i] { self->run_lane(i); });
  threads_.emplace_back([self] { self->run_loader(); });
  threads_.emplace_back([self] { self->run_scanner(); });
  threads_.emplace_back([self] { self->run_watch(); });
}

void ServerThreads::hand_out(std::unique_lock<std::mutex>& lock) {
  std::vector<TellWork> tells;
  std::vector<std::condition_variable*> waiting;  // woken without the lock, which they need at once
  for (serving::Work& work : core_.take_work()) {
    if (auto* run = std::get_if<RunWork>(&work)) {
      Lane& lane = *lanes_[static_cast<std::size_t>(run->lane)];
      lane.next = std::move(*run);
      if (lane.is_waiting) waiting.push_back(&lane.has_work);
    } else if (auto* load = std::get_if<LoadWork>(&work)) {
      loader_work_.emplace_back(std::move(*load));
    } else if (auto* free = std::get_if<FreeWork>(&work)) {
      loader_work_.emplace_back(std::move(*free));
    } else {
      tells.push_back(std::get<TellWork>(std::move(work)));
    }
  }
  if (!loader_work_.empty()) waiting.push_back(&loader_has_work_);
  watch_by(core_.wake_at());
  if (is_stopped_ && core_.is_idle()) waiting.push_back(&run_ended_);
  lock.unlock();
  for (std::condition_variable* each : waiting) each->notify_one();
  for (const TellWork& tell : tells) tell();
}

// Lanes

void ServerThreads::run_lane(std::size_t index) {
  Lane& lane = *lanes_[index];
  std::unique_lock lock(lock_);
  while (true) {
    lane.is_waiting = true;
    lane.has_work.wait(lock, [&] { return lane.next || is_stopping_; });
    lane.is_waiting = false;
    if (!lane.next) return;
    const auto run = std::make_shared<Run>();
    run->work = *std::exchange(lane.next, std::nullopt);
    run->run = run->work.loaded->begin();
    run->began = now();
    lane.run = run;
    watch_by(run->began + options_.run_max);
    lock.unlock();
    RunOutcome outcome = run_batch(*run);
    lock.lock();
    if (run->is_lost) return;
    lane.run = nullptr;
    const BatchSpans spans(options_.spans, run->work, run->began);
    std::vector<AcceptedRequest> requests = std::move(run->work.requests);
    run->run = nullptr;
    run->work.loaded = nullptr;
    core_.end_run(outcome.report, now());
    hand_out(lock);
    if (!spans.empty()) spans.end(requests, options_.metadata.device, now());
    for (std::size_t i = 0; i < requests.size(); ++i) requests[i].done(std::move(outcome.answers[i]));
    lock.lock();
  }
}

ServerThreads::RunOutcome ServerThreads::run_batch(Run& run) {
  RunOutcome outcome;
  outcome.report.lane = run.work.lane;
  auto parts = parts_or_error(run, outcome.report);
  const Instant ran = now();
  const std::vector<AcceptedRequest>& requests = run.work.requests;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const serving::InferRequest& request = requests[i].request;
    outcome.report.is_answered.push_back(parts.has_value());
    if (parts) {
      outcome.answers.emplace_back(InferAnswer{.model = request.model,
                                               .version = run.work.version,
                                               .id = request.id,
                                               .outputs = wanted_outputs(request.outputs, std::move((*parts)[i]))});
    } else {
      outcome.answers.emplace_back(tl::unexpected<ServeError>(error_of(run, parts.error())));
    }
  }
  outcome.report.output += now() - ran;
  return outcome;
}

Result<std::vector<std::vector<Tensor>>> ServerThreads::parts_or_error(Run& run, serving::RunReport& report) {
  const RunWork& work = run.work;
  try {
    const bool is_alone = work.requests.size() == 1;
    const std::vector<Tensor> batch = is_alone ? std::vector<Tensor>() : batch_of(work);
    const Instant joined = now();
    report.input = joined - run.began;
    auto outputs = run.run->run(is_alone ? work.requests.front().request.inputs : batch);
    hold_until(work.held_until);
    const Instant ran = now();
    report.run = ran - joined;
    if (!outputs) return pass_on(outputs.error());
    auto parts = parts_of(work, *std::move(outputs));
    report.output = now() - ran;
    return parts;
  } catch (const std::bad_alloc&) {
    return fail(ErrorCode::kUnavailable, "there is not enough memory for the batch");
  }
}

ServeError ServerThreads::error_of(const Run& run, const Error& error) const {
  if (error.code != ErrorCode::kInterrupted) return {.fault = ServeFault::kEngineFailed, .message = error.message};
  if (run.is_ended) return {.fault = ServeFault::kUnavailable, .message = "the server ends"};
  return {.fault = ServeFault::kEngineFailed,
          .message = fmt::format("the run took more than {} s and was ended", options_.run_max.to_seconds())};
}

void ServerThreads::hold_until(Instant end) {
  if (end <= now()) return;
  std::unique_lock lock(lock_);
  stopping_.wait_until(lock, time_of(end), [&] { return is_stopping_; });
}

// Loads

void ServerThreads::run_loader() {
  std::unique_lock lock(lock_);
  while (true) {
    loader_has_work_.wait(lock, [&] { return !loader_work_.empty() || is_stopping_; });
    if (is_stopping_) return;
    LoaderWork work = std::move(loader_work_.front());
    loader_work_.pop_front();
    lock.unlock();
    if (auto* free = std::get_if<FreeWork>(&work)) {
      free->loaded = nullptr;
      malloc_trim(0);  // else the C library keeps what the model freed
      lock.lock();
      core_.end_free(free->model, now());
    } else {
      const LoadWork& wanted = std::get<LoadWork>(work);
      auto loaded = load(wanted);
      malloc_trim(0);  // its peak is no longer reserved
      if (!loaded) options_.report(fmt::format("{}: {}", wanted.file.path, loaded.error().message));
      lock.lock();
      core_.end_load(wanted.model, std::move(loaded), now());
    }
    hand_out(lock);
    lock.lock();
  }
}

Result<LoadedVersion> ServerThreads::load(const LoadWork& work) {
  const Instant began = now();
  const std::int64_t bytes_before = allocated_bytes();
  ModelFile file = work.file;
  if (file.sha256.empty() && engine_->wants_sha256()) file.sha256 = sha256_of(file).value_or("");
  auto model = engine_->load(file);
  if (!model) return pass_on(model.error());
  LoadedVersion loaded{.model = std::move(*model), .measured_bytes = 0, .load_time = now() - began, .trial = {}};
  loaded.trial = serving::try_model(*loaded.model, work.trial, [this] { return now(); });
  loaded.measured_bytes = measured_bytes(allocated_bytes() - bytes_before, *loaded.model, work.weight_bytes);
  loaded.sha256 = file.sha256;
  if (work.hold > Micros(0)) hold_until(began + work.hold);
  return loaded;
}

// The repository

void ServerThreads::run_scanner() {
  std::unique_lock lock(lock_);
  while (true) {
    const auto next = Clock::now() + std::chrono::microseconds(options_.scan_every.count());
    stopping_.wait_until(lock, next, [&] { return is_stopping_; });
    if (is_stopping_) return;
    lock.unlock();
    const serving::RepositoryModels models = options_.scan();
    lock.lock();
    core_.take_repository(models, now());
    hand_out(lock);
    lock.lock();
    if (const auto wanted = core_.next_sum()) {
      lock.unlock();  // it takes a second for some gigabytes, and no load has to wait for it here
      const auto sum = sha256_of(wanted->file);
      lock.lock();
      core_.end_sum(wanted->model, sum);
    }
  }
}

// The watch

void ServerThreads::run_watch() {
  std::unique_lock lock(lock_);
  while (!is_stopping_) {
    std::vector<TellWork> tells;
    watch_until_ = Instant::never();
    if (core_.wake_at() <= now()) core_.tick(now());
    const Instant next_run = watch_runs(tells);
    hand_out(lock);
    for (const TellWork& tell : tells) tell();
    lock.lock();
    watch_by(std::min(core_.wake_at(), next_run));
    if (is_stopping_) return;
    lock.unlock();
    watch_alarm_.wait();
    lock.lock();
  }
}

void ServerThreads::watch_by(Instant at) {
  if (at >= watch_until_ || is_stopping_) return;  // while it stops, the alarm has rung and must not be moved
  watch_until_ = at;
  watch_alarm_.set(time_of(at));
}

Instant ServerThreads::watch_runs(std::vector<TellWork>& tells) {
  Instant next = Instant::never();
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    if (!lanes_[i]->run) continue;
    Run& run = *lanes_[i]->run;
    const Instant stop_at = run.began + options_.run_max;
    if (!run.is_stopped && stop_at <= now()) {
      run.is_stopped = true;
      run.run->stop();
    }
    if (run.is_stopped && stop_at + kStopGrace <= now()) {
      lose_lane(i, tells);
    } else {
      next = std::min(next, run.is_stopped ? stop_at + kStopGrace : stop_at);
    }
  }
  return next;
}

void ServerThreads::lose_lane(std::size_t index, std::vector<TellWork>& tells) {
  Lane& lane = *lanes_[index];
  const std::shared_ptr<Run> run = std::exchange(lane.run, nullptr);
  run->is_lost = true;
  lane.is_lost = true;
  const std::string reason = fmt::format("a run did not end {} s after it was told to", kStopGrace.to_seconds());
  core_.lose_lane(run->work.lane, reason, now());
  // The inputs stay where they are: the run may still read them.
  for (AcceptedRequest& request : run->work.requests) {
    tells.emplace_back(
        [done = std::move(request.done), reason] { done(serving::refuse(ServeFault::kEngineFailed, reason)); });
  }
  options_.report(fmt::format("a lane is lost: {}", reason));
}

ServerEnd ServerThreads::stop(Micros at_most) {
  ServerEnd end;
  std::unique_lock lock(lock_);
  if (std::exchange(is_stopped_, true) || !is_started_) return end;
  core_.begin_end();
  const auto limit = Clock::now() + std::chrono::microseconds(at_most.count());
  end.is_complete = run_ended_.wait_until(lock, limit, [&] { return core_.is_idle(); });
  core_.refuse_waiting(now());
  for (const auto& lane : lanes_) {
    if (!lane->run) continue;
    lane->run->is_stopped = true;
    lane->run->is_ended = true;
    lane->run->run->stop();
  }
  hand_out(lock);
  lock.lock();
  run_ended_.wait_for(lock, std::chrono::microseconds(kStopGrace.count()), [&] { return core_.is_idle(); });
  std::vector<TellWork> tells;
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    if (lanes_[i]->run) lose_lane(i, tells);
  }
  is_stopping_ = true;
  stopping_.notify_all();
  loader_has_work_.notify_all();
  watch_alarm_.set(Clock::now());
  for (const auto& lane : lanes_) lane->has_work.notify_all();
  hand_out(lock);
  for (const TellWork& tell : tells) tell();
  for (const auto& lane : lanes_) {
    end.lanes_lost += lane->is_lost ? 1 : 0;
    lane->is_lost ? lane->thread.detach() : lane->thread.join();
  }
  for (std::thread& thread : threads_) thread.join();
  return end;
}

}  // namespace berth::edges::detail
