/// Readers of measured profiles. Every row is checked, used or not; errors say FILE:LINE:COLUMN, what was wanted and
/// found. Blank lines are accepted only at the end. All numbers are exact decimals.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/core/decimal.h"
#include "base/core/result.h"
#include "domain/profile/contradiction.h"
#include "domain/values/performance.h"

namespace berth::profile {

inline constexpr int kBatchMax = 65'536;
inline constexpr int kProcessesMax = 1024;
inline constexpr std::int64_t kThroughputMax = 1'000'000'000;  ///< requests per second of one process or slice
inline constexpr std::int64_t kLatencyMsMax = 1'000'000'000;   ///< about 11 days

/// Puts the points of a table into the order that domain/values/performance.h states.
void sort_points(PerformanceTable& table);

/// ParvaGPU's files (SC'24): `Mig instance,Batch size,Workload Number,Throughput,Latency`, one model of one A100-80GB.
/// Throughput is per process and latency in seconds; rows in which both are zero are not measurements. The table's
/// `model` is empty. `observe` gets every measurement.
[[nodiscard]] Result<PerformanceTable> read_parvagpu(std::string_view text, std::string_view file,
                                                     const RowObserver& observe = {});

/// The full names of a GPU (perhaps given by a unique prefix) and of one of its profiles.
struct ResolvedProfile {
  std::string gpu;
  std::string profile;
};
struct UnresolvedProfile {
  bool is_gpu_unknown = false;  ///< otherwise the profile is
  std::string message;          ///< "wanted ..., found ..."
};
using ProfileResolver =
    std::function<tl::expected<ResolvedProfile, UnresolvedProfile>(std::string_view gpu, std::string_view profile)>;

/// Berth's own format: `model,gpu,profile,batch,processes,requests_per_second,latency_ms`, requests_per_second of the
/// whole slice. Returns the rows of `model`; kNotFound, without a line, if there are none. `observe` gets the rows of
/// every model.
[[nodiscard]] Result<PerformanceTable> read_profile_csv(std::string_view text, std::string_view file,
                                                        std::string_view model, const ProfileResolver& resolve,
                                                        const RowObserver& observe = {});

/// The same for every model of a file, in one pass: sorted by model, names unique; empty if the file has no rows.
[[nodiscard]] Result<std::vector<PerformanceTable>> read_profile_csv_models(std::string_view text,
                                                                            std::string_view file,
                                                                            const ProfileResolver& resolve,
                                                                            const RowObserver& observe = {});

/// A training job of MISO's measurements.
struct MisoJob {
  std::string model;
  int batch = 1;
};

/// MISO's iteration times (SoCC'22): `model,batch,mig_slice,median_s_per_iter,mean_s_per_iter,n_iters`. Returns the
/// mean seconds of an iteration by compute slices (1, 2, 3, 4, 7); kNotFound, without a line, if the job is not in the
/// file.
[[nodiscard]] Result<std::map<int, Decimal>> read_miso(std::string_view text, std::string_view file,
                                                       const MisoJob& job);

}  // namespace berth::profile
