/// What gateways counted of the requests of services, until the engine is given it: each record once, in whole seconds
/// of the world, in order.
///
/// A second is known once a gateway has reported after its end: a second without a record of a gateway that reports is
/// empty, one without a gateway is unknown. What becomes known of a second that was given already (late answers,
/// arrivals of a gateway that was slow) counts in the next one, so that sums agree.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/core/instant.h"
#include "domain/values/latency_buckets.h"
#include "domain/values/request_record.h"
#include "domain/values/series.h"
#include "domain/values/slice.h"

namespace berth::live {

/// A gateway that says nothing for so long was perhaps away: seconds before that are unknown.
inline constexpr std::int64_t kQuietSecondsMax = 120;

class RequestBook {
 public:
  struct Reading {
    std::int64_t epoch_us = 0;  ///< of second 0 of the world, since 1970
    Instant now;
    /// The service of a tenant and a name; absent: there is none.
    std::function<std::optional<ServiceId>(const std::string& tenant, const std::string& service)> find;
  };
  /// Adds the records of a report that were not added before.
  void add(const RequestReport& report, const Reading& reading);

  struct Second {
    ServiceId service;
    std::int64_t second = 0;
    std::int64_t queued = 0;
    ServiceFigures figures;  ///< without the number of the service and accuracies
  };
  /// What is known by now and was not taken: by second, then service. `present`: the services of the world; those
  /// without a record get empty seconds. Nothing, if it is little: at most kHoldSeconds of empty seconds are held back.
  [[nodiscard]] std::vector<Second> take(const std::vector<ServiceId>& present);
  /// By gateway: all records up to this number were taken; those that changed since the last call.
  [[nodiscard]] std::map<std::string, std::uint64_t> take_counted();

  /// Everything before that second was taken.
  void skip_to(std::int64_t second);
  /// The second from which on nothing was taken.
  [[nodiscard]] std::int64_t given_until() const { return given_until_; }
  /// Another process took and recorded this.
  void recall(std::int64_t last_second, const std::map<std::string, std::uint64_t>& counted);
  /// The service is gone: what is known of it is discarded.
  void forget(ServiceId service);
  [[nodiscard]] bool is_empty() const { return gateways_.empty(); }
  /// As take_counted told, for all gateways.
  [[nodiscard]] const std::map<std::string, std::uint64_t>& counted() const { return counted_; }

  template <class Archive, class Self>
  static void archive_fields(Archive& archive, Self& self) {
    archive(self.counted_, self.given_until_);
    if constexpr (Archive::kReads) self.recall(self.given_until_ - 1, std::map(self.counted_));
  }

 private:
  static constexpr std::int64_t kHoldSeconds = 10;
  static constexpr std::size_t kGatewaysMax = 16;  ///< remembered; the one that was silent longest is forgotten

  struct Gateway {
    std::uint64_t last = 0;         ///< number of its latest record
    std::int64_t known_until = -1;  ///< the second before which it has reported everything
    std::uint64_t used = 0;         ///< order of its latest report
  };
  struct Pending {
    std::int64_t arrivals = 0;
    std::map<std::int64_t, SettledRequests> settled;  ///< by second of arrival
    LatencyBuckets latencies;
  };
  /// Where a record counts.
  struct Place {
    std::int64_t arrived = 0;  ///< second of the world
    std::int64_t second = 0;   ///< the one to which it is added
    std::optional<ServiceId> service;
  };
  void add_record(const std::string& gateway, const RequestRecord& record, const Place& place);
  [[nodiscard]] std::uint64_t counted_of(const std::string& gateway) const;
  void forget_old_gateways();

  std::map<std::string, Gateway> gateways_;
  std::map<std::string, std::uint64_t> counted_;  ///< as take_counted told
  std::int64_t known_from_ = 0;                   ///< seconds from here to known_until_ are known
  std::int64_t known_until_ = 0;
  std::int64_t given_until_ = 0;                                  ///< the second that is taken next, at least
  std::map<std::int64_t, std::map<ServiceId, Pending>> pending_;  ///< by second
  std::map<std::int64_t, std::map<std::string, std::uint64_t>> first_number_;  ///< of the records in it
  std::map<ServiceId, std::int64_t> queued_;                                   ///< latest
  std::uint64_t reports_ = 0;
};

}  // namespace berth::live
