#include "gpu/hands/detail/gpu_worker.h"

#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <utility>

#include "gpu/hands/detail/watched_calls.h"
#include "gpu/hands/gpu_lock.h"
#include "gpu/hands/plain_end.h"

namespace berth::edges::detail {
namespace {

std::int64_t steady_now_us() {
  return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

struct GpuWorker::Shared {
  Shared(std::string of, WorkerParts with)
      : uuid(std::move(of)), parts(std::move(with)), library(parts.library, note), changer(parts.changer, note) {}

  const std::string uuid;
  const WorkerParts parts;
  CallNote note;
  WatchedLibrary library;
  WatchedChanger changer;

  mutable std::mutex mutex;  ///< for all below
  std::condition_variable changed;
  std::deque<Task> waiting;
  std::optional<std::uint64_t> intent_under_way;
  std::optional<GpuLock> lock;
  bool is_lock_wanted = false;
  bool is_stopping = false;

  void work();
  /// Waits for the next order, which is then under way; nothing: the worker is stopping.
  [[nodiscard]] std::optional<Task> next();
  [[nodiscard]] DeviceEnd carry_out(const Task& task);
  /// Takes the lock. If it cannot, returns the outcome of the order.
  [[nodiscard]] std::optional<DeviceEnd> take_lock(const Task& task);
  void end_order();
};

void GpuWorker::Shared::work() {
  while (const auto task = next()) {
    parts.on_ended(*task, carry_out(*task));
    end_order();
    parts.on_idle();
  }
}

std::optional<Task> GpuWorker::Shared::next() {
  std::unique_lock hold(mutex);
  changed.wait(hold, [this] { return is_stopping || !waiting.empty(); });
  if (is_stopping) return std::nullopt;
  Task task = std::move(waiting.front());
  waiting.pop_front();
  intent_under_way = task.order.intent;
  return task;
}

DeviceEnd GpuWorker::Shared::carry_out(const Task& task) {
  if (auto refused = take_lock(task)) return std::move(*refused);
  device::Tools tools{.library = library, .changer = changer, .now_us = steady_now_us};
  DeviceEnd end = parts.carry_out(tools, task.order);
  end.intent = task.order.intent;
  return end;
}

std::optional<DeviceEnd> GpuWorker::Shared::take_lock(const Task& task) {
  const std::scoped_lock hold(mutex);
  if (lock) return std::nullopt;
  auto taken = GpuLock::take(parts.lock_folder, uuid, {.pid = ::getpid(), .world = task.world});
  if (taken) {
    lock = std::move(*taken);
    return std::nullopt;
  }
  DeviceEnd end = plain_end(task.order, DeviceOutcome::kRefused, taken.error().message);
  if (taken.error().owner_pid) {
    // Often the agent of a process that was just killed: it ends after the order that it is carrying out.
    end.outcome = DeviceOutcome::kBusy;
    end.holders.push_back({.pid = static_cast<std::uint32_t>(*taken.error().owner_pid), .name = "berth"});
  }
  return end;
}

void GpuWorker::Shared::end_order() {
  const std::scoped_lock hold(mutex);
  intent_under_way.reset();
  if (!is_lock_wanted && waiting.empty()) lock.reset();
}

GpuWorker::GpuWorker(device::ManagedGpu gpu, WorkerParts parts)
    : gpu_(std::move(gpu)),
      shared_(std::make_shared<Shared>(gpu_.uuid, std::move(parts))),
      thread_([shared = shared_] { shared->work(); }) {}

GpuWorker::~GpuWorker() {
  {
    const std::scoped_lock hold(shared_->mutex);
    shared_->is_stopping = true;
  }
  shared_->changed.notify_all();
  if (thread_.joinable()) thread_.join();
}

bool GpuWorker::give(Task task) {
  {
    const std::scoped_lock hold(shared_->mutex);
    if (shared_->waiting.size() >= kWaitingMax) return false;
    shared_->waiting.push_back(std::move(task));
    shared_->is_lock_wanted = true;
  }
  shared_->changed.notify_all();
  return true;
}

void GpuWorker::forget_waiting() {
  const std::scoped_lock hold(shared_->mutex);
  shared_->waiting.clear();
  shared_->is_lock_wanted = false;
  if (!shared_->intent_under_way) shared_->lock.reset();
}

bool GpuWorker::is_idle() const {
  const std::scoped_lock hold(shared_->mutex);
  return !shared_->intent_under_way && shared_->waiting.empty();
}

std::optional<HandsStatus::UnderWay> GpuWorker::under_way() const {
  const std::scoped_lock hold(shared_->mutex);
  if (!shared_->intent_under_way) return std::nullopt;
  return HandsStatus::UnderWay{.uuid = gpu_.uuid, .intent = *shared_->intent_under_way, .call = shared_->note.get()};
}

void GpuWorker::leave_behind() {
  if (thread_.joinable()) thread_.detach();
}

}  // namespace berth::edges::detail
