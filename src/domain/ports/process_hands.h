/// Programs on the slices of this machine, run by another process: the caller never waits.
///
/// A start with an order that is refused (unknown template, a parameter that does not match) is reported once as
/// kFailed with `starts` 0, and is not kept. What is kept starts again by itself, also while no client is connected.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/core/instant.h"
#include "base/core/result.h"

namespace berth {

/// A program that is to run on a slice. It stays wanted, and is started again when it ends, until `stop`.
struct ProcessOrder {
  std::string template_name = {};  ///< "serve": with the parameters repository and model
  std::map<std::string, std::string> parameters = {};
  std::string tenant = {};
  std::string slice = {};        ///< as in the API: "gpu-3-1g.10gb-2"
  std::uint64_t generation = 0;  ///< of the slice; with `slice` the identity of the program
  std::string device_uuid = {};  ///< of the MIG device or GPU
  friend bool operator==(const ProcessOrder&, const ProcessOrder&) = default;
};

enum class ProcessPhase : std::uint8_t { kStarting, kReady, kDraining, kStopped, kFailed };

/// A program as the hands know it.
struct ProcessReport {
  ProcessOrder order = {};
  ProcessPhase phase = ProcessPhase::kStarting;
  std::int64_t pid = 0;                            ///< 0: none runs now
  int port = 0;                                    ///< on the loopback interface; 0: none yet
  std::string key = {};                            ///< that it takes requests with; empty: it takes all
  std::optional<std::int64_t> uid = std::nullopt;  ///< of its user; absent: that of the hands
  std::int64_t in_flight_max = 1;
  Micros drain = {};                                ///< how long requests in flight may take before `stop`
  std::optional<Micros> start_time = std::nullopt;  ///< from its start until it was ready, of the latest start
  std::int64_t starts = 0;
  std::int64_t failures = 0;  ///< in the last ten minutes
  bool is_looping = false;    ///< ten failures in ten minutes
  std::string message = {};   ///< of the latest failure: status, last lines
  friend bool operator==(const ProcessReport&, const ProcessReport&) = default;
};

class ProcessHands {
 public:
  virtual ~ProcessHands() = default;

  /// Whether the hands would take the order, by their own rules (templates, tenants, parameters): before anything
  /// depends on it. Error: field, wanted, found (kInvalidInput); no hands are connected (kUnavailable).
  [[nodiscard]] virtual Result<void> check(const ProcessOrder& /*order*/) const { return {}; }
  /// Never waits. An order that cannot be passed on is reported as kFailed with a message.
  virtual void start(const ProcessOrder& order) = 0;
  /// SIGTERM, after a while SIGKILL, to all its processes; then a report kStopped.
  virtual void stop(const std::string& slice, std::uint64_t generation) = 0;
  /// The programs whose reports changed since the last call. After a connection (also the first one): all.
  [[nodiscard]] virtual std::vector<ProcessReport> take_reports() = 0;
  /// Whether a list of all programs was taken over the current connection: before that nothing is known to be missing.
  [[nodiscard]] virtual bool knows_all() const = 0;
  /// Whether each tenant's programs have a user of their own. False: `separate_users: false` in the hands'
  /// configuration.
  [[nodiscard]] virtual bool separates_users() const { return true; }
  /// Why the hands cannot be reached now; nothing: they can.
  [[nodiscard]] virtual std::optional<std::string> why_gone() const = 0;
  /// The last bytes of a program's log, at most `bytes_max`; nothing: no such program, or no hands. Waits for the
  /// answer.
  [[nodiscard]] virtual std::optional<std::string> read_log(const std::string& slice, std::uint64_t generation,
                                                            std::size_t bytes_max) = 0;
};

}  // namespace berth
