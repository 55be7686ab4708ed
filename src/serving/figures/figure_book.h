/// Counts what a model server does: by model and second, by tenant, and since it began.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/core/instant.h"
#include "serving/dispatch/device_state.h"
#include "serving/dispatch/request.h"
#include "serving/figures/lane_time.h"
#include "serving/figures/request_figures.h"
#include "serving/figures/wall_time.h"
#include "serving/service/figure_service.h"

namespace berth::serving {

/// A second of a model in which there was something to count.
struct ModelSecond {
  std::int64_t second = 0;  ///< of UNIX time
  std::string model;
  std::string version;  ///< empty: a backend's model
  RequestFigures figures;
};

/// Lane time of a span, with names.
struct UsageSpan {
  std::int64_t from_us = 0;  ///< since 1970; both within one second
  std::int64_t to_us = 0;
  std::map<std::pair<std::string, std::string>, Micros> used = {};  ///< by tenant and model

  friend bool operator==(const UsageSpan&, const UsageSpan&) = default;
};

/// What has ended since it was taken last: for files.
struct EndedFigures {
  std::vector<ModelSecond> seconds = {};
  std::vector<UsageSpan> spans = {};
};

/// Told of each event with the server's own time, which never goes back. Seconds are those of the wall clock. When that
/// is set back, seconds of models go on as if it had not been, so that each comes once, while spans of lane time follow
/// it: whoever writes them sees that they were there before.
class FigureBook {
 public:
  /// Names of tenants by index. Requires: at least one lane.
  FigureBook(std::vector<std::string> tenants, int lanes);

  /// What the wall clock shows, since 1970: to be called at the start, and then each second or so.
  void learn_wall_time(Instant now, Micros since_1970);
  /// Microseconds since 1970.
  [[nodiscard]] std::int64_t wall_us(Instant now) const { return wall_.at(now); }
  /// From now on, what has ended is kept for `take_ended`, which is to be called each second or so.
  void keep_ended(Instant now);

  /// Requires: indices ascend from 0.
  void add_model(ModelIndex index, std::string name, std::string version, Instant now);
  void remove_model(ModelIndex index, Instant now);

  /// A request whose model is known has arrived.
  void arrive(ModelIndex index, TenantIndex tenant, Instant now);
  /// Likewise, and was refused at once, before it waited.
  void arrive_and_end(ModelIndex index, TenantIndex tenant, RequestOutcome outcome, Instant now);
  /// A waiting request has ended without an answer.
  void end_waiting(const Request& request, RequestOutcome outcome, Instant now);
  void start_batch(LaneIndex lane, ModelIndex index, std::span<const Request> requests, Instant now);
  /// `is_answered`: of its requests, by position. `time`: what it took; nothing if it never ended.
  void end_batch(LaneIndex lane, const RunningBatch& batch, const std::vector<bool>& is_answered,
                 std::optional<Micros> time, Instant now);
  void end_load(ModelIndex index, Micros load_time);
  void evict(ModelIndex index);
  /// `is_preload`: no request asked for it.
  void begin_load(ModelIndex index, bool is_preload);

  void add_backend_model(std::string_view model, Instant now);
  /// A request to a backend has ended; it also counts as one that arrived now.
  void end_at_backend(std::string_view model, TenantIndex tenant, const BackendEnd& how, Instant now);

  [[nodiscard]] ServeResult<std::vector<FigurePoint>> series(const AskedFigures& asked, Instant now) const;
  [[nodiscard]] std::vector<UsageItem> usage() const;
  /// Of a version; only what the book knows.
  [[nodiscard]] ModelCounters counters(ModelIndex index) const;
  [[nodiscard]] std::vector<ModelCounters> backend_counters() const;
  /// Of a version, by rows of a batch.
  [[nodiscard]] const std::map<RowCount, TimeSums>& batch_times(ModelIndex index) const { return at(index).batches; }
  /// Requests that wait or run.
  [[nodiscard]] std::int64_t accepted(ModelIndex index) const;

  /// `is_last`: the server ends, and what is under way is cut.
  [[nodiscard]] EndedFigures take_ended(Instant now, bool is_last);

 private:
  struct TenantCount {
    std::int64_t requests = 0;
    std::optional<std::int64_t> prompt_tokens = std::nullopt;
    std::optional<std::int64_t> completion_tokens = std::nullopt;
  };
  /// A version, or a backend's model.
  struct CountedModel {
    std::string name;
    std::string version;
    std::int64_t since = 0;                            ///< the first second with data
    std::optional<std::int64_t> until = std::nullopt;  ///< the last, if it is gone
    RequestFigures current = {};                       ///< of the second that is under way
    SecondRing seconds = {};
    RequestFigures totals = {};
    std::int64_t waiting = 0;
    std::int64_t running = 0;
    std::int64_t loads = 0;
    Micros load_time = {};
    std::int64_t evictions = 0;
    PreloadCounts preloads = {};
    bool is_preload_unused = false;  ///< it was preloaded, and has not run since
    Micros answer_time = {};
    std::array<std::int64_t, kFirstResponseBounds.size() + 1> first_response = {};
    std::map<TenantIndex, TenantCount> tenants = {};
    std::map<RowCount, TimeSums> batches = {};  ///< that ended and were answered
  };

  [[nodiscard]] CountedModel& at(ModelIndex index) { return versions_[static_cast<std::size_t>(index)]; }
  [[nodiscard]] const CountedModel& at(ModelIndex index) const { return versions_[static_cast<std::size_t>(index)]; }
  /// Moves to the second of `now`.
  void advance(Instant now);
  void end_seconds(std::int64_t next);
  void end_second(CountedModel& model, std::int64_t second, RequestFigures& all);
  [[nodiscard]] std::int64_t second_at(Instant now) const { return Instant(now.micros() + series_offset_us_).second(); }
  static void count_arrival(CountedModel& model, TenantIndex tenant);
  static void count_end(CountedModel& model, RequestOutcome outcome);
  static void count_answer(CountedModel& model, Micros latency);
  template <class Visit>
  void for_each_model(const Visit& visit) const;
  [[nodiscard]] ModelCounters counters_of(const CountedModel& model) const;
  [[nodiscard]] std::string tenant_name(TenantIndex tenant) const;

  std::vector<std::string> tenants_;
  WallTime wall_;
  std::int64_t series_offset_us_ = 0;  ///< only grows
  std::int64_t first_second_ = 0;
  std::int64_t second_ = 0;  ///< under way
  Instant second_end_ = Instant::at_second(1);
  std::vector<CountedModel> versions_;  ///< by model index
  std::map<std::string, CountedModel, std::less<>> backend_models_;
  SecondRing all_seconds_;  ///< of all models together, without latencies
  LaneTime lane_time_;
  std::vector<ModelSecond> ended_;
  bool keeps_ended_ = false;
};

}  // namespace berth::serving
