/// One device: what waits, what runs and what is resident. It enforces the laws of serving, whatever the policy: a lane
/// runs one batch of one resident model at a time, resident and loading bytes never exceed the memory, and a model with
/// a running batch stays.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "serving/dispatch/request.h"
#include "serving/dispatch/terms.h"

namespace berth::serving {

enum class Residency {
  kCold,      ///< -> kLoading
  kLoading,   ///< -> kResident, or kCold if the load fails
  kResident,  ///< -> kCold
};

struct RunningBatch {
  ModelIndex model;
  std::vector<Request> requests;
  RowCount rows = 0;
  Instant start;
  Instant end;  ///< expected
};

/// A model on the device. Its queue is sorted: the most urgent first, then the oldest.
struct ServedModel {
  ModelTerms terms;
  Residency residency = Residency::kCold;
  std::deque<Request> queue = {};
  RowCount rows_waiting = 0;
  /// Waiting requests that may expire before more urgent ones: of a low priority, or of several rows.
  int waiting_out_of_order = 0;
  int batches_running = 0;
  std::optional<Instant> last_end = std::nullopt;  ///< of a batch
  /// The model is about to leave: requests of this number and later wait for its return.
  std::optional<std::int64_t> leaves_before = std::nullopt;

  [[nodiscard]] bool accepts(const Request& request) const { return !leaves_before || request.number < *leaves_before; }
  /// No batch runs, and no request waits for one.
  [[nodiscard]] bool is_idle() const;
};

struct RunningLoad {
  ModelIndex model;
  Instant end;  ///< expected
};

/// What requests of a queue are sorted by, before their age.
enum class QueueOrder { kArrival, kUrgency };

class DeviceState {
 public:
  /// Requires: each model fits into the memory alone; at least one lane and one model.
  DeviceState(std::vector<ModelTerms> models, std::int64_t memory, int lanes, QueueOrder order);

  [[nodiscard]] std::span<const ServedModel> models() const { return models_; }
  [[nodiscard]] const ServedModel& model(ModelIndex index) const { return models_[static_cast<std::size_t>(index)]; }
  [[nodiscard]] std::span<const std::optional<RunningBatch>> lanes() const { return lanes_; }
  [[nodiscard]] const std::optional<RunningLoad>& load() const { return load_; }
  [[nodiscard]] std::int64_t bytes_free() const { return memory_ - bytes_reserved_; }
  [[nodiscard]] int lanes_free() const { return lanes_free_; }

  /// Makes a model resident at once, before the first event. Requires: it is cold and fits.
  void place(ModelIndex index);

  void enqueue(const Request& request);
  /// Removes requests of a queue, by position, and returns them. Requires: ascending positions.
  std::vector<Request> take(ModelIndex index, std::span<const std::size_t> positions);
  /// Removes the first `count` requests of a queue.
  std::vector<Request> take_front(ModelIndex index, std::size_t count);

  /// Requires: the lane is free, the model resident, and requests of at most `rows_max` rows.
  void start_batch(LaneIndex lane, ModelIndex index, std::vector<Request> requests, Instant now);
  RunningBatch end_batch(LaneIndex lane, Instant now);

  /// Requires: no load runs, the model is cold and fits.
  void start_load(ModelIndex index, Instant now);
  ModelIndex end_load();
  /// From the request with this number on, a resident model takes none until it has left and returned.
  void let_leave(ModelIndex index, std::int64_t from_number);
  /// Requires: the model is resident and no batch of it runs.
  void evict(ModelIndex index);

 private:
  static void count_taken(ServedModel& model, std::span<const Request> taken);
  [[nodiscard]] ServedModel& at(ModelIndex index) { return models_[static_cast<std::size_t>(index)]; }

  std::vector<ServedModel> models_;
  std::vector<std::optional<RunningBatch>> lanes_;
  std::optional<RunningLoad> load_;
  std::int64_t memory_ = 0;
  std::int64_t bytes_reserved_ = 0;
  int lanes_free_ = 0;
  QueueOrder order_ = QueueOrder::kUrgency;
};

}  // namespace berth::serving
