#include "edges/profile_workers/profile_workers.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/core/ensure.h"
#include "edges/profile_workers/detail/worker_process.h"

namespace berth::edges {
namespace {

using detail::WorkerOrder;
using detail::WorkerOrderKind;
using detail::WorkerReply;

/// Time in which all workers of a turn read its begin.
constexpr std::chrono::milliseconds kHeadStart{3};

std::int64_t nanos_of(double micros) {
  constexpr double kNanosPerMicro = 1000;
  return static_cast<std::int64_t>(micros * kNanosPerMicro);
}

/// A reply that is not done, as an error.
tl::unexpected<Error> error_in(const WorkerReply& reply) { return fail(reply.error, reply.message); }

}  // namespace

ProfileWorkers::ProfileWorkers(ProfileWorkersOptions options)
    : options_(std::move(options)), workers_(static_cast<std::size_t>(options_.count)) {}

ProfileWorkers::~ProfileWorkers() = default;

Result<std::unique_ptr<ProfileWorkers>> ProfileWorkers::start(ProfileWorkersOptions options) {
  ENSURE(!options.command.empty() && options.count > 0);
  auto workers = std::make_unique<ProfileWorkers>(std::move(options));
  if (auto started = workers->start_missing(); !started) return pass_on(started.error());
  return workers;
}

/// One after another: what one of them measures of its own load is not disturbed.
Result<void> ProfileWorkers::start_missing() {
  std::vector<std::string> words = options_.command;
  words.insert(words.end(), {options_.library_path, options_.model_path,
                             options_.cuda_index ? std::to_string(*options_.cuda_index) : "cpu"});
  for (auto& worker : workers_) {
    if (worker != nullptr && !worker->has_ended()) continue;
    worker = nullptr;
    auto child = detail::WorkerChild::start(words);
    if (!child) return pass_on(child.error());
    auto reply = (*child)->reply(options_.is_stopped);
    if (!reply) return pass_on(reply.error());
    if (!reply->is_done && !reply->fits && worker != workers_.front()) break;  // the model fits, but not so often
    if (!reply->is_done) return error_in(*reply);
    worker = *std::move(child);
    if (!loaded_.engine.empty()) continue;
    loaded_ = {.engine = std::move(reply->engine),
               .device = std::move(reply->device),
               .device_bytes = reply->device_bytes,
               .inputs = std::move(reply->inputs),
               .memory_bytes = reply->memory_bytes};
  }
  return {};
}

Result<models::TurnTimes> ProfileWorkers::run(const models::TurnOrder& order, std::span<const Tensor> inputs) {
  const auto count = static_cast<std::size_t>(order.processes);
  ENSURE(count > 0 && count <= workers_.size());
  if (auto started = start_missing(); !started) return pass_on(started.error());
  models::TurnTimes turn;
  turn.fits = std::ranges::none_of(std::span(workers_).first(count), [](const auto& worker) { return !worker; });
  if (!turn.fits) return turn;
  const auto is_ready = prepare(count, inputs, turn);
  if (!is_ready) return pass_on(is_ready.error());
  if (*is_ready) {
    if (auto measured = measure(count, order.length_us, turn); !measured) return pass_on(measured.error());
  }
  if (auto resting = rest(count); !resting) return pass_on(resting.error());
  if (!turn.fits) turn.processes.clear();
  return turn;
}

Result<bool> ProfileWorkers::prepare(std::size_t count, std::span<const Tensor> inputs, models::TurnTimes& turn) {
  const WorkerOrder order{.kind = WorkerOrderKind::kPrepare, .inputs = {inputs.begin(), inputs.end()}};
  for (std::size_t i = 0; i < count; ++i) workers_[i]->send(order);
  for (std::size_t i = 0; i < count; ++i) {
    const auto reply = workers_[i]->reply(options_.is_stopped);
    if (!reply) return pass_on(reply.error());
    if (!reply->is_done && reply->fits) return error_in(*reply);
    turn.fits = turn.fits && reply->is_done;
    if (reply->memory_bytes) turn.memory_bytes = std::max(turn.memory_bytes.value_or(0), *reply->memory_bytes);
  }
  return turn.fits;
}

Result<void> ProfileWorkers::measure(std::size_t count, double length_us, models::TurnTimes& turn) {
  const auto begin = std::chrono::steady_clock::now().time_since_epoch() + kHeadStart;
  const WorkerOrder order{.kind = WorkerOrderKind::kRun,
                          .begin_ns = std::chrono::nanoseconds(begin).count(),
                          .length_ns = nanos_of(length_us),
                          .is_alone = count == 1};
  for (std::size_t i = 0; i < count; ++i) workers_[i]->send(order);
  for (std::size_t i = 0; i < count; ++i) {
    auto reply = workers_[i]->reply(options_.is_stopped);
    if (!reply) return pass_on(reply.error());
    if (!reply->is_done && reply->fits) return error_in(*reply);
    turn.fits = turn.fits && reply->is_done;
    turn.processes.push_back(std::move(reply->times));
  }
  return {};
}

Result<void> ProfileWorkers::rest(std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    if (!workers_[i]->has_ended()) workers_[i]->send({.kind = WorkerOrderKind::kRest});
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (workers_[i]->has_ended()) continue;
    if (auto reply = workers_[i]->reply(options_.is_stopped); !reply) return pass_on(reply.error());
  }
  return {};
}

}  // namespace berth::edges
