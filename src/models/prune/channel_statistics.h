/// What calibration rows say of the channels that a model sums over.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/core/result.h"
#include "domain/ports/model_probe.h"
#include "models/graph/graph.h"
#include "models/prune/channel_groups.h"
#include "models/rows/row_set.h"

namespace berth::models {

/// How the channels of a value vary together.
struct ChannelSpread {
  std::int64_t channels = 0;
  std::vector<double> variance = {};    ///< one per channel
  std::vector<double> covariance = {};  ///< channels x channels; empty: too many, they count as independent
};

struct ChannelStatistics {
  /// By the name of the value that consumers take.
  std::map<std::string, ChannelSpread, std::less<>> spreads = {};
  /// By the index of the consumer: what each element of a filter meets on average, padding included, so that the sum of
  /// its products with the filter is the mean output. As many as a filter has elements, in the order of the weights.
  std::map<std::size_t, std::vector<double>> inputs = {};
};

struct ChannelMeasuring {
  std::size_t batch_rows = 8;
  std::size_t bytes_max = std::size_t{256} << 20;  ///< of the values of one run
};

/// Channels of a value of which all pairs are compared, 8 MiB: above that, they count as independent.
inline constexpr std::int64_t kPairedChannelsMax = 1024;

/// Runs all rows twice, for the means and for the spreads, which are around the mean of all that one weight meets.
/// Groups that are left out are not measured. Errors: those of running the model; a value that changes its shape
/// between batches.
[[nodiscard]] Result<ChannelStatistics> measure_channels(ModelProbe& probe, const Model& model,
                                                         std::span<const ChannelGroup> groups, const RowSet& rows,
                                                         const ChannelMeasuring& options);

}  // namespace berth::models
