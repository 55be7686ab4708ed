/// One device: what waits, what runs and what is resident. It enforces the laws of serving, whatever the policy: a
/// lane runs one batch of one resident model at a time, resident and loading bytes never exceed the memory, and a
/// model with a running batch stays.
#pragma once

#include <algorithm>
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
  std::int64_t bytes_reserved = 0;  ///< of the device's memory, for this model
  bool is_offered = true;           ///< takes new requests; otherwise it leaves as soon as it is idle
  bool is_stuck = false;            ///< a batch of it ran on a lane that was lost: it stays for good
  Instant lease_until = {};         ///< until then it makes no room for others
  Instant load_held_off_until = {};
  std::optional<Instant> load_asked_at = std::nullopt;  ///< `want_load` was called, and no load has ended since

  [[nodiscard]] bool accepts(const Request& request) const { return !leaves_before || request.number < *leaves_before; }
  /// No batch runs, and no request waits for one.
  [[nodiscard]] bool is_idle() const;
  [[nodiscard]] bool is_leased(Instant now) const { return now < lease_until; }
  /// Whether others may take its place once it is idle.
  [[nodiscard]] bool may_leave(Instant now) const {
    return residency == Residency::kResident && !is_stuck && !is_leased(now);
  }
  /// What a load reserves.
  [[nodiscard]] std::int64_t bytes_to_load() const { return std::max(terms.bytes, terms.bytes_loading); }
  /// Requests wait for it, a load was asked for, or it is about to leave.
  [[nodiscard]] bool is_pending() const {
    return !queue.empty() || load_asked_at || leaves_before || (!is_offered && residency != Residency::kCold);
  }
  /// A load should start as soon as it can.
  [[nodiscard]] bool needs_load() const {
    return residency == Residency::kCold && (!queue.empty() || load_asked_at.has_value());
  }
};

struct RunningLoad {
  ModelIndex model;
  Instant end;  ///< expected
};

/// What requests of a queue are sorted by, before their age.
enum class QueueOrder { kArrival, kUrgency };

class DeviceState {
 public:
  /// Requires: no negative bytes; at least one lane.
  DeviceState(std::int64_t memory, int lanes, QueueOrder order);

  [[nodiscard]] std::span<const ServedModel> models() const { return models_; }
  [[nodiscard]] const ServedModel& model(ModelIndex index) const { return models_[static_cast<std::size_t>(index)]; }
  /// Models for which something is to be decided, ascending: all that are pending, and perhaps some that were. Most
  /// models of a large repository are not.
  [[nodiscard]] std::span<const ModelIndex> pending() const { return pending_; }
  /// Removes those from `pending()` that are not.
  void forget_settled();
  /// What runs, by lane. Lanes that were lost are not free and run nothing.
  [[nodiscard]] std::span<const std::optional<RunningBatch>> lanes() const { return lanes_; }
  [[nodiscard]] bool is_free(LaneIndex lane) const;
  [[nodiscard]] int lanes_free() const { return lanes_free_; }
  /// When the first lane is expected to be free: `now` if one is, or if none works. O(lanes).
  [[nodiscard]] Instant lane_free_at(Instant now) const;
  /// Those that were not lost.
  [[nodiscard]] int lanes_working() const { return lanes_working_; }
  [[nodiscard]] const std::optional<RunningLoad>& load() const { return load_; }
  [[nodiscard]] std::int64_t memory() const { return memory_; }
  [[nodiscard]] std::int64_t bytes_free() const { return memory_ - bytes_reserved_; }
  [[nodiscard]] std::int64_t requests_waiting() const { return requests_waiting_; }
  [[nodiscard]] std::int64_t bytes_waiting() const { return bytes_waiting_; }

  /// Whether a load of the model could ever fit, all others gone but those that are stuck.
  [[nodiscard]] bool fits_ever(ModelIndex model) const;
  /// Whether a load of the model may start once there is room: it is cold, needed or not, not held off, and fits
  /// beside what is stuck or leased. O(1) if nothing is leased.
  [[nodiscard]] bool may_load(ModelIndex model, Instant now) const;
  /// When `may_load` may become true for a cold model; `now` if it is, never() if it cannot by itself. O(models).
  [[nodiscard]] Instant may_load_at(ModelIndex model, Instant now) const;

  ModelIndex add_model(ModelTerms terms);
  /// Returns requests with more rows than a batch now takes. What is reserved stays.
  std::vector<Request> set_terms(ModelIndex model, ModelTerms terms);
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
  /// The lane is never free again, and the model of its batch is stuck. Requires: the lane is not lost.
  std::optional<RunningBatch> lose_lane(LaneIndex lane);

  /// Requires: no load runs, the model is cold and fits.
  void start_load(ModelIndex index, Instant now);
  ModelIndex end_load();
  /// See Dispatcher.
  [[nodiscard]] bool end_load(ModelIndex index, std::int64_t measured);
  void fail_load(ModelIndex index);
  /// From the request with this number on, a resident model takes none until it has left and returned.
  void let_leave(ModelIndex index, std::int64_t from_number);
  /// Requires: the model is resident, idle and not leased.
  void evict(ModelIndex index, Instant now);

  void set_offered(ModelIndex index, bool is_offered);
  /// A model that is about to leave stays.
  void want_load(ModelIndex index, Instant now);
  void lease(ModelIndex index, Instant until);
  void hold_off_load(ModelIndex index, Instant until);

 private:
  void note_pending(ModelIndex index);
  void count_taken(ServedModel& model, std::span<const Request> taken);
  void reserve(ServedModel& model, std::int64_t bytes);
  [[nodiscard]] ServedModel& at(ModelIndex index) { return models_[static_cast<std::size_t>(index)]; }

  std::vector<ServedModel> models_;
  std::vector<ModelIndex> pending_;
  std::vector<std::optional<RunningBatch>> lanes_;
  std::vector<bool> is_lost_;  ///< by lane
  std::optional<RunningLoad> load_;
  std::int64_t memory_ = 0;
  std::int64_t bytes_reserved_ = 0;
  std::int64_t bytes_stuck_ = 0;
  std::int64_t requests_waiting_ = 0;
  std::int64_t bytes_waiting_ = 0;
  Instant leased_until_;  ///< no lease ends later
  int lanes_free_ = 0;
  int lanes_working_ = 0;
  QueueOrder order_ = QueueOrder::kUrgency;
};

}  // namespace berth::serving
