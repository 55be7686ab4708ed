/// The thread that changes one GPU: it carries out orders one after the other, under the lock of the GPU.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "domain/ports/gpu_changer.h"
#include "domain/ports/gpu_library.h"
#include "gpu/device/managed_gpu.h"
#include "gpu/device/verbs.h"
#include "gpu/hands/protocol.h"

namespace berth::edges::detail {

/// An order, and the client that gave it.
struct Task {
  DeviceOrder order;
  std::uint64_t connection = 0;
  std::string world;
};

/// The parts that the workers of a process share.
struct WorkerParts {
  GpuLibrary& library;
  GpuChanger& changer;
  std::function<DeviceEnd(device::Tools&, const DeviceOrder&)> carry_out;
  std::string lock_folder;
  std::function<void(const Task&, DeviceEnd)> on_ended;  ///< called by the thread
  std::function<void()> on_idle;                         ///< likewise, when nothing is under way
};

class GpuWorker {
 public:
  static constexpr std::size_t kWaitingMax = 64;

  /// What `parts` borrows must outlive the thread.
  GpuWorker(device::ManagedGpu gpu, WorkerParts parts);
  GpuWorker(const GpuWorker&) = delete;
  GpuWorker& operator=(const GpuWorker&) = delete;
  /// Waits for the order under way, unless it was left behind.
  ~GpuWorker();

  [[nodiscard]] const device::ManagedGpu& gpu() const { return gpu_; }
  /// Queues an order. False: kWaitingMax orders wait already.
  [[nodiscard]] bool give(Task task);
  /// Drops the orders that have not begun, as their client is gone. The lock is released after the order under way,
  /// unless another order comes.
  void forget_waiting();
  [[nodiscard]] bool is_idle() const;
  /// Asks for a look at the MIG devices of the GPU; the result names it. Without an order under way it takes
  /// milliseconds.
  [[nodiscard]] std::uint64_t look();
  [[nodiscard]] bool has_looked(std::uint64_t look) const;
  /// Whether this GPU, or a MIG device that was on it at the latest look or order, has that UUID.
  [[nodiscard]] bool has_device(const std::string& uuid) const;
  [[nodiscard]] std::optional<HandsStatus::UnderWay> under_way() const;
  /// For a call that does not return: detaches the thread, which ends after that call.
  void leave_behind();

 private:
  struct Shared;

  device::ManagedGpu gpu_;
  std::shared_ptr<Shared> shared_;  ///< shared, so that a thread left behind can still use it
  std::thread thread_;
};

}  // namespace berth::edges::detail
