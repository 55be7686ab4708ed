/// What a model server says about itself: figures by second, memory, usage, batch times, counters.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/core/instant.h"
#include "base/core/int128.h"
#include "domain/values/latency_buckets.h"
#include "serving/service/inference.h"
#include "serving/service/inference_service.h"

namespace berth::serving {

/// How a request ended.
enum class RequestOutcome {
  kInTime,     ///< answered within its target
  kLate,       ///< answered after it
  kRejected,   ///< 429: refused when it arrived
  kExpired,    ///< 504: it waited until it could no longer be in time
  kFailed,     ///< 500 or 503: its run, its model or the server failed
  kCancelled,  ///< its client left before it started
};

/// Of a model, or of all of them, in a span. Requests count when they arrive, outcomes when the requests end: over time
/// each request counts once, but in a short span these need not be the same requests.
struct RequestFigures {
  std::int64_t requests = 0;  ///< arrived
  std::int64_t in_time = 0;
  std::int64_t late = 0;
  std::int64_t rejected = 0;
  std::int64_t expired = 0;
  std::int64_t failed = 0;
  std::int64_t cancelled = 0;
  std::int64_t batches = 0;       ///< ended
  std::int64_t rows = 0;          ///< answered
  std::int64_t queue_max = 0;     ///< the most requests that waited at the end of a second
  LatencyBuckets latencies = {};  ///< of all answers

  [[nodiscard]] std::int64_t dropped() const { return rejected + expired + failed + cancelled; }
  friend bool operator==(const RequestFigures&, const RequestFigures&) = default;
};

/// Of the figures, those that are plain counts and are summed over spans.
inline constexpr std::array kSummedFigures = {
    &RequestFigures::requests,  &RequestFigures::in_time, &RequestFigures::late,
    &RequestFigures::rejected,  &RequestFigures::expired, &RequestFigures::failed,
    &RequestFigures::cancelled, &RequestFigures::batches, &RequestFigures::rows};

/// A point of a graph. Seconds are those of UNIX time.
struct FigurePoint {
  std::int64_t from = 0;
  std::int64_t to = 0;       ///< exclusive
  std::int64_t seconds = 0;  ///< of the span, those with data
  RequestFigures figures = {};
  bool has_batches = true;  ///< otherwise only a backend knows them

  friend bool operator==(const FigurePoint&, const FigurePoint&) = default;
};

/// Points begin at multiples of the step.
struct AskedFigures {
  std::optional<std::string> model = std::nullopt;  ///< all its versions together; nothing: all models together
  std::optional<std::int64_t> from = std::nullopt;  ///< points that overlap [from, to)
  std::optional<std::int64_t> to = std::nullopt;
  std::int64_t step = 60;        ///< a divisor of 60, or a multiple of it
  std::size_t count_max = 1000;  ///< only the first so many
};

enum class MemoryState {
  kCold,
  kLoading,
  kResident,
  kLeaving,      ///< it takes no new requests, or is being destroyed
  kUnavailable,  ///< it is cold and cannot serve
};
[[nodiscard]] std::string_view name_of(MemoryState state);

/// Loads that no request asked for.
struct PreloadCounts {
  std::int64_t begun = 0;
  std::int64_t hits = 0;  ///< after which the model ran before it left
};

/// What a server that preloads knows of a model.
struct PreloadFigures {
  PreloadCounts counts = {};
  double chance = 0;  ///< that it is asked for soon
};

/// Of one version of a model.
struct ModelMemory {
  std::string name;
  std::string version;
  std::optional<std::string> variant = std::nullopt;  ///< as `berth.json` next to the model says
  MemoryState state = MemoryState::kCold;
  std::int64_t reserved_bytes = 0;
  std::optional<std::int64_t> measured_bytes = std::nullopt;  ///< 0 if it is not in memory
  std::int64_t accepted = 0;                                  ///< requests that wait or run
  std::optional<std::int64_t> lease_until_us = std::nullopt;  ///< since 1970
  std::optional<double> value = std::nullopt;  ///< the load time that a byte of it saves per second, in seconds
  std::optional<Micros> load = std::nullopt;   ///< how long its last load took
  std::optional<PreloadFigures> preloads = std::nullopt;  ///< nothing where models are not preloaded
};

struct MemoryFigures {
  std::int64_t limit_bytes = 0;
  std::int64_t reserved_bytes = 0;
  std::int64_t measured_bytes = 0;                               ///< of the models, where it is known
  std::optional<std::int64_t> base_bytes = std::nullopt;         ///< of the process before its first model
  std::optional<std::int64_t> device_free_bytes = std::nullopt;  ///< as the device says
  std::vector<ModelMemory> models = {};                          ///< by name, then in the order of their arrival
};

/// Of a tenant with a model, since the server began.
struct UsageItem {
  std::string tenant;
  std::string model;
  std::int64_t requests = 0;                                 ///< arrived
  std::optional<std::int64_t> device_us = std::nullopt;      ///< lane time; nothing for a backend's model
  std::optional<std::int64_t> prompt_tokens = std::nullopt;  ///< nothing where no answer had them
  std::optional<std::int64_t> completion_tokens = std::nullopt;

  friend bool operator==(const UsageItem&, const UsageItem&) = default;
};

/// How long batches of one size took, from their first input to their last output.
struct TimeSums {
  std::int64_t count = 0;
  std::int64_t sum_us = 0;
  Int128 sum_squares = 0;  ///< of microseconds

  friend bool operator==(const TimeSums&, const TimeSums&) = default;
};

/// Of all batches of one size of a version, since the server began.
struct BatchTimes {
  std::string model;
  std::string version;
  std::optional<std::string> sha256 = std::nullopt;  ///< of model.onnx, 64 lower-case hex digits
  int batch = 0;                                     ///< rows
  TimeSums times = {};
};

struct TimeFigures {
  std::int64_t started_us = 0;  ///< since 1970
  std::string device;
  std::vector<BatchTimes> items = {};
};

/// The upper bounds of the buckets of `ModelCounters::first_response`, as in Triton; one more has no bound.
inline constexpr std::array kFirstResponseBounds = {Micros(100'000), Micros(500'000), Micros(2'000'000),
                                                    Micros(5'000'000)};

/// Of a version, or of a backend's model, since the server began.
struct ModelCounters {
  std::string name;
  std::string version;    ///< empty: a backend's model
  RequestFigures totals;  ///< without latencies and queue_max
  std::int64_t waiting = 0;
  std::int64_t loads = 0;  ///< ended well
  Micros load_time = {};   ///< of all of them
  std::int64_t evictions = 0;
  PreloadCounts preloads = {};
  std::array<std::int64_t, kFirstResponseBounds.size() + 1> first_response = {};
  Micros answer_time = {};          ///< of all answers
  ModelStatistics statistics = {};  ///< of a version
  std::int64_t reserved_bytes = 0;
  std::optional<std::int64_t> measured_bytes = std::nullopt;
};

struct CounterFigures {
  std::string device;
  int lanes = 0;  ///< not lost
  int lanes_busy = 0;
  int lanes_lost = 0;
  std::int64_t waiting = 0;        ///< requests
  std::int64_t waiting_bytes = 0;  ///< of their inputs
  MemoryFigures memory = {};
  bool has_preloads = false;  ///< models may be preloaded
  std::vector<ModelCounters> models = {};
};

/// Functions may be called by any thread.
class FigureService {
 public:
  virtual ~FigureService() = default;

  /// The newest hour; points without data are left out. Errors: kUnknown: no such model. Requires: a valid step.
  [[nodiscard]] virtual ServeResult<std::vector<FigurePoint>> series(const AskedFigures& asked) const = 0;
  [[nodiscard]] virtual MemoryFigures memory() const = 0;
  /// By tenant, then by model.
  [[nodiscard]] virtual std::vector<UsageItem> usage() const = 0;
  /// By model, version and size.
  [[nodiscard]] virtual TimeFigures times() const = 0;
  [[nodiscard]] virtual CounterFigures counters() const = 0;
};

/// How a request to a backend ended.
struct BackendEnd {
  RequestOutcome outcome = RequestOutcome::kInTime;  ///< not kLate: every answer of a backend is in time
  Micros latency = {};                               ///< of an answer, until its last byte
  std::optional<std::int64_t> prompt_tokens = std::nullopt;
  std::optional<std::int64_t> completion_tokens = std::nullopt;
};

}  // namespace berth::serving
