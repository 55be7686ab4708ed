/// The processes that run a model under measurement.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/core/result.h"
#include "domain/values/tensor.h"
#include "models/profiling/turn.h"

namespace berth::edges {

namespace detail {
class WorkerChild;
}  // namespace detail

struct ProfileWorkersOptions {
  /// The words with which a program calls `profile_worker_main`, which are given its arguments after them.
  std::vector<std::string> command = {};
  std::string library_path;
  std::string model_path;
  std::optional<int> cuda_index = std::nullopt;  ///< nothing: on the processor
  int count = 1;
  std::function<bool()> is_stopped = [] { return false; };  ///< waits end when it is true, with kInterrupted
};

/// What the first process says of itself when it has loaded the model.
struct LoadedWorker {
  std::string engine;             ///< such as "ONNX Runtime 1.32.0"
  std::string device = {};        ///< the name of the GPU; empty: the processor
  std::int64_t device_bytes = 0;  ///< of the GPU's memory that are free, with those of the process; 0: the processor
  std::vector<TensorSignature> inputs = {};
  std::optional<std::int64_t> memory_bytes = {};  ///< of the process
};

class ProfileWorkers {
 public:
  /// Starts the processes and waits until each has loaded the model. Errors: what a process says, such as a model that
  /// the engine refuses (kInvalidInput); kUnavailable if it cannot be started or has ended; kInterrupted.
  [[nodiscard]] static Result<std::unique_ptr<ProfileWorkers>> start(ProfileWorkersOptions options);
  /// Only for `start`: without processes.
  explicit ProfileWorkers(ProfileWorkersOptions options);
  ProfileWorkers(const ProfileWorkers&) = delete;
  ProfileWorkers& operator=(const ProfileWorkers&) = delete;
  ~ProfileWorkers();

  [[nodiscard]] const LoadedWorker& loaded() const { return loaded_; }
  /// Lets the first `order.processes` of them run batches with these inputs, at the same time. Errors: likewise; the
  /// engine refuses the inputs (kInvalidInput).
  [[nodiscard]] Result<models::TurnTimes> run(const models::TurnOrder& order, std::span<const Tensor> inputs);

 private:
  [[nodiscard]] Result<void> start_missing();
  /// Whether the inputs fit into the memory of all, which is noted in `turn`.
  [[nodiscard]] Result<bool> prepare(std::size_t count, std::span<const Tensor> inputs, models::TurnTimes& turn);
  [[nodiscard]] Result<void> measure(std::size_t count, double length_us, models::TurnTimes& turn);
  [[nodiscard]] Result<void> rest(std::size_t count);

  ProfileWorkersOptions options_;
  LoadedWorker loaded_;
  std::vector<std::unique_ptr<detail::WorkerChild>> workers_;  ///< an empty one is to be started
};

}  // namespace berth::edges
