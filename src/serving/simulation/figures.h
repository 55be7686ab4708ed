/// What a run came to: counts, latencies and lane time, in all, by model and by tenant.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "serving/simulation/requests_file.h"
#include "serving/simulation/run_event.h"

namespace berth::serving {

struct ServingFigures {
  std::int64_t requests = 0;
  std::int64_t in_time = 0;                          ///< answered at most the target after the arrival
  std::int64_t late = 0;                             ///< answered after it
  std::int64_t dropped = 0;                          ///< without an answer, rejected ones included
  std::optional<Micros> latency_p50 = std::nullopt;  ///< of the answers, nearest rank; none without answers
  std::optional<Micros> latency_p99 = std::nullopt;
  std::int64_t batches = 0;
  Micros busy;  ///< lane time

  friend bool operator==(const ServingFigures&, const ServingFigures&) = default;
};

struct RunFigures {
  ServingFigures total;
  Instant end;  ///< of the last request
  std::int64_t loads = 0;
  Micros load_time;
  std::int64_t evictions = 0;
  std::int64_t preloads = 0;            ///< of the loads
  std::int64_t preload_hits = 0;        ///< preloaded models that ran a batch before they left
  std::int64_t load_waits = 0;          ///< answered requests that arrived while their model was not resident
  std::vector<ServingFigures> models;   ///< by index
  std::vector<ServingFigures> tenants;  ///< by index; their batches are not counted

  friend bool operator==(const RunFigures&, const RunFigures&) = default;
};

/// Counts what happens in a run.
class FigureCounter {
 public:
  explicit FigureCounter(const RecordedRequests& recorded);

  void add(const RunEvent& event);
  /// Of everything so far.
  [[nodiscard]] RunFigures figures() const;

 private:
  struct Count {
    ServingFigures figures;
    std::vector<Micros> latencies;
  };
  struct Stay {
    Instant from;                         ///< when its load ended
    bool is_preload_without_hit = false;  ///< it was preloaded and has not run since
  };

  void add_batch(const StartBatch& batch, Instant end);
  void add_load(const StartLoad& load, Instant at, Instant end);
  /// Lane time of a batch by rows; what is left over goes to the tenant of the oldest request.
  void divide_among_tenants(const StartBatch& batch);
  void add_answer(Count& count, const Request& request, Instant end);
  void add_drop(const Request& request, Instant at);

  RunFigures run_;
  Count total_;
  std::vector<Count> models_;
  std::vector<Stay> stays_;  ///< by model: the latest one in memory
  std::vector<Count> tenants_;
};

}  // namespace berth::serving
