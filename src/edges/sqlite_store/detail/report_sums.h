/// Sums over the reports of servers, and what a new report adds to them. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "domain/ports/profile_store.h"
#include "edges/sqlite_store/detail/report_rows.h"

namespace berth::edges::detail {

/// What `report` has beyond the earlier ones, sorted. Times that an earlier report of the same url and start counted
/// are not counted again; another start counts from zero. Counts that are lower than before add nothing: two readers of
/// one server may write in another order than they read. Times of a model whose sha256 the server did not know are
/// reversed (negative counts) as soon as a report counts them under their sha256. Memory is there if it differs from
/// the last.
[[nodiscard]] ReportRows difference(const TimesReport& report, std::span<const ReportRows> earlier,
                                    std::int64_t now_us);

/// The number of batches in a difference.
[[nodiscard]] std::int64_t batch_count(const ReportRows& rows);

/// By url, model, version, sha256, device and batch; without those that were reversed. Nothing if a sum does not fit
/// 64 bits.
[[nodiscard]] std::optional<std::vector<ObservedSum>> observed_sums(std::span<const ReportRows> reports);

/// The last by url, model and version.
[[nodiscard]] std::vector<ObservedMemorySum> last_memory(std::span<const ReportRows> reports);

}  // namespace berth::edges::detail
