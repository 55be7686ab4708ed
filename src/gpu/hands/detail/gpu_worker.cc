#include "gpu/hands/detail/gpu_worker.h"

#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <set>
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
  bool is_looking = false;
  std::uint64_t looks_wanted = 0;
  std::uint64_t looks_done = 0;
  std::set<std::string> mig_devices;

  void work();
  /// Waits for something to do. False: the worker is stopping.
  [[nodiscard]] bool wait();
  /// The next order, which is then under way; nothing: a look is wanted.
  [[nodiscard]] std::optional<Task> next();
  void look();
  void note_devices(const GpuReading& reading);
  [[nodiscard]] DeviceEnd carry_out(const Task& task);
  /// Takes the lock. If it cannot, returns the outcome of the order.
  [[nodiscard]] std::optional<DeviceEnd> take_lock(const Task& task);
  void end_order();
};

void GpuWorker::Shared::work() {
  while (wait()) {
    if (const auto task = next()) {
      DeviceEnd end = carry_out(*task);
      if (end.reading) note_devices(*end.reading);
      parts.on_ended(*task, std::move(end));
      end_order();
    } else {
      look();
    }
    parts.on_idle();
  }
}

bool GpuWorker::Shared::wait() {
  std::unique_lock hold(mutex);
  changed.wait(hold, [this] { return is_stopping || !waiting.empty() || looks_done < looks_wanted; });
  return !is_stopping;
}

void GpuWorker::Shared::look() {
  std::uint64_t number = 0;
  {
    const std::scoped_lock hold(mutex);
    number = looks_wanted;
    is_looking = true;
  }
  const auto reading = parts.library.read(uuid);
  if (reading) note_devices(*reading);
  const std::scoped_lock hold(mutex);
  looks_done = number;
  is_looking = false;
}

void GpuWorker::Shared::note_devices(const GpuReading& reading) {
  std::set<std::string> devices;
  for (const GpuInstanceSeen& instance : reading.instances) {
    for (const ComputeInstanceSeen& each : instance.compute_instances) {
      if (!each.uuid.empty()) devices.insert(each.uuid);
    }
  }
  const std::scoped_lock hold(mutex);
  mig_devices = std::move(devices);
}

std::optional<Task> GpuWorker::Shared::next() {
  const std::scoped_lock hold(mutex);
  if (waiting.empty()) return std::nullopt;  // also if they were dropped since
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
  return !shared_->intent_under_way && shared_->waiting.empty() && !shared_->is_looking;
}

std::uint64_t GpuWorker::look() {
  std::uint64_t number = 0;
  {
    const std::scoped_lock hold(shared_->mutex);
    number = ++shared_->looks_wanted;
  }
  shared_->changed.notify_all();
  return number;
}

bool GpuWorker::has_looked(std::uint64_t look) const {
  const std::scoped_lock hold(shared_->mutex);
  return shared_->looks_done >= look;
}

bool GpuWorker::has_device(const std::string& uuid) const {
  if (uuid == gpu_.uuid) return true;
  const std::scoped_lock hold(shared_->mutex);
  return shared_->mig_devices.contains(uuid);
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
