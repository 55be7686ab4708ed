/// What a gateway counts, as numbered records for `berth up`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/core/instant.h"
#include "domain/values/request_record.h"

namespace berth::serving {

/// Tenant and service.
using ServiceKey = std::pair<std::string, std::string>;

/// A service and how many of its requests wait.
struct WaitingCount {
  const ServiceKey* key = nullptr;  ///< never null
  std::int64_t waiting = 0;
};

class RequestBook {
 public:
  /// Records are kept so long without acknowledgement, and at most so many.
  RequestBook(Micros record_keep, std::size_t record_count_max)
      : record_keep_(record_keep), record_count_max_(record_count_max) {}

  void arrive(const ServiceKey& key, std::int64_t second) { ++open_[{key, second}].arrivals; }
  void drop(const ServiceKey& key, std::int64_t second) { ++open_[{key, second}].dropped; }
  void answer(const ServiceKey& key, std::int64_t second, Micros latency, bool is_in_time);

  /// Makes records of all that was counted of seconds before `second`, and one for each of `services` and each second
  /// since the last call, also without requests: a second without a record is one in which no gateway was. O(what was
  /// counted + services).
  void close_seconds(std::int64_t second, std::span<const WaitingCount> services, Instant now);

  /// The oldest records, in JSON of not much more than `bytes_max`; at least one if there is one.
  [[nodiscard]] std::vector<RequestRecord> oldest(std::size_t count_max, std::size_t bytes_max) const;
  /// Forgets the records up to that number.
  void acknowledge(std::uint64_t until);

  [[nodiscard]] std::size_t kept_count() const { return kept_.size(); }
  /// Records that nobody took in time.
  [[nodiscard]] std::uint64_t lost_count() const { return lost_count_; }

 private:
  struct OpenSecond {
    std::int64_t arrivals = 0;
    std::int64_t in_time = 0;
    std::int64_t late = 0;
    std::int64_t dropped = 0;
    std::map<std::uint32_t, std::int64_t> latencies;
  };
  struct KeptRecord {
    Instant made;
    RequestRecord record;
  };

  void make_record(const ServiceKey& key, std::int64_t second, const OpenSecond& counted, std::int64_t waiting,
                   Instant now);
  void forget_old(Instant now);

  const Micros record_keep_;
  const std::size_t record_count_max_;
  std::map<std::pair<ServiceKey, std::int64_t>, OpenSecond> open_;
  std::deque<KeptRecord> kept_;
  std::uint64_t last_number_ = 0;
  std::uint64_t lost_count_ = 0;
  std::int64_t closed_until_ = 0;  ///< seconds before it are closed; 0: none is
};

}  // namespace berth::serving
