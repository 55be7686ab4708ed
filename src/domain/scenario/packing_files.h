/// The files of `berth pack`: demands, offers of GPUs, and the measured profiles of many models. Their formats:
/// docs/reference/packing.md. Errors say FILE:LINE:COLUMN, what was wanted, what was found.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/core/result.h"
#include "base/core/warned.h"
#include "domain/ports/files.h"
#include "domain/values/packing.h"

namespace berth::scenario {

/// `model,requests_per_second,latency_ms` and optionally `,tenant`, one row per demand, in the file's order; an empty
/// tenant is the model. A file with only the header is an empty list; one without a header is an error. Negative rates,
/// latencies that are not above 0 and repeated pairs of tenant and model are reported together: one error names them
/// all.
[[nodiscard]] Result<std::vector<Demand>> read_demands(std::string_view text, std::string_view file);

/// `gpu,count,usd_per_gpu_hour`: at least one row, each GPU model once (names as domain/mig/catalogue.h finds them);
/// count is a whole number or `unlimited`, the price has at most six digits after the point. Warns of names that stand
/// for several boards (mig::gpu_name_remark).
[[nodiscard]] Result<Warned<std::vector<GpuOffer>>> read_offers(std::string_view text, std::string_view file);

/// The format of measured profiles (domain/profile/readers.h).
enum class ProfileFormat { kParvagpu, kCsv };

/// The tables of every model at `path`, sorted by model: a file, or a folder of which every *.csv is read (except
/// hidden ones). A file of kParvagpu has one model, named like the file without its extension; a kCsv file has any
/// number of models, but no model is in two files. Rows whose columns contradict each other
/// (domain/profile/contradiction.h) are a warning for each file below 0.75, and an error above 1.05: a packing would
/// count on requests that its slices cannot answer.
[[nodiscard]] Result<Warned<std::vector<PerformanceTable>>> load_tables(const std::string& path, ProfileFormat format,
                                                                        const Files& files);

}  // namespace berth::scenario
