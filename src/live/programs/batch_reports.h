/// How long the batches of programs took, from what each `berth serve` says of itself (`GET /berth/v1/times`), next to
/// the times of the service's table for the same batches.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "domain/values/speed_factors.h"
#include "sim/world/batch_times.h"

namespace berth::live {

/// A program, by slice and generation.
using ProgramKey = std::pair<std::string, std::uint64_t>;

/// The cumulative times of a server since its start.
struct ServerTimes {
  struct Sum {
    std::int64_t batch = 1;
    std::int64_t count = 0;
    std::int64_t sum_us = 0;
    friend bool operator==(const Sum&, const Sum&) = default;
  };
  std::int64_t started_us = 0;
  std::vector<Sum> sums;
  friend bool operator==(const ServerTimes&, const ServerTimes&) = default;
};
/// Nothing: the text is not such an answer.
[[nodiscard]] std::optional<ServerTimes> read_server_times(std::string_view text);

class BatchReports {
 public:
  /// Takes an answer. `batch_us`: the table's time of a batch of n at index n - 1. Batches before the first answer of a
  /// server count, too; larger ones than the table has do not.
  void add(const ProgramKey& program, const SpeedPlace& place, const std::vector<std::int64_t>& batch_us,
           const ServerTimes& times);
  /// By place, what is new since the last call.
  [[nodiscard]] std::vector<sim::BatchTimes> take(std::int64_t second);
  /// Forgets programs other than these.
  template <class IsKnown>
  void keep(const IsKnown& is_known) {
    std::erase_if(latest_, [&](const auto& each) { return !is_known(each.first); });
  }

 private:
  std::map<ProgramKey, ServerTimes> latest_;
  std::map<SpeedPlace, sim::BatchTimes> sums_;
};

}  // namespace berth::live
