/// The batch sizes that form while requests may wait, and the slice size that serves each best: the histogram and the
/// knee of PARIS (arXiv 2202.13481), in our interpretation.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "base/core/decimal.h"
#include "domain/values/gpu.h"
#include "domain/values/service.h"
#include "engine/rivals/detail/fleet_view.h"

namespace berth::partition::detail {

/// Requests by the size of the batch that forms in their second.
using BatchHistogram = std::map<int, std::int64_t>;

/// How long a request of the service may wait: the target minus the latency of the default point's full batch on the
/// largest slice (most SMs) of the fleet that can serve it, at least 0. Requires: there is one.
[[nodiscard]] Decimal slack_ms(const FleetView& fleet, int service);

/// n = floor(rate x slack) + 1 in each second, at most `batch_max`; weighted by the second's requests.
[[nodiscard]] BatchHistogram batch_histogram(std::span<const std::uint32_t> history, const Decimal& slack_ms,
                                             int batch_max);

/// The kind of slice with the highest throughput per SM at a batch size, and that throughput.
struct Knee {
  int kind = 0;
  Decimal requests_per_second;
  friend bool operator==(const Knee&, const Knee&) = default;
};

/// The usable points of a service on one model: on each kind, for each profiled batch, the highest throughput with any
/// number of processes that the service allows and a latency below its limit.
class KneeTable {
 public:
  KneeTable(const ServiceSpec& service, const ModelView& view);

  /// Nothing if no kind can serve the service.
  [[nodiscard]] std::optional<Knee> knee(int batch) const;
  /// The largest usable batch; 0 if there is none.
  [[nodiscard]] int batch_max() const;

 private:
  std::vector<int> sms_;
  std::vector<std::map<int, Decimal>> points_;  ///< [kind][batch] -> requests per second
};

}  // namespace berth::partition::detail
