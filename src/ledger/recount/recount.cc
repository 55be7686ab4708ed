#include "ledger/recount/recount.h"

#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "base/core/text.h"
#include "ledger/recount/detail/booking.h"
#include "ledger/recount/detail/facts.h"
#include "ledger/recount/detail/line.h"

namespace berth::ledger {
namespace {

using recounting::Booking;
using recounting::Close;
using recounting::Facts;
using recounting::GpuMonth;
using recounting::Line;
using recounting::MonthCount;
using recounting::Texts;
using recounting::Use;
using recounting::Verdict;

constexpr std::uint64_t kLinesPerProgress = 100'000;

void count_line(LineCounts& counts, Verdict verdict) {
  ++counts.lines;
  switch (verdict) {
    case Verdict::kAccepted:
      ++counts.accepted;
      break;
    case Verdict::kDuplicate:
      ++counts.duplicates;
      break;
    case Verdict::kConflict:
      ++counts.conflicts;
      break;
    case Verdict::kOverlap:
      ++counts.overlaps;
      break;
    case Verdict::kClosed:
      ++counts.refused_closed;
      break;
    case Verdict::kVoid:
      ++counts.refused_void;
      break;
    case Verdict::kClose:
      ++counts.refused_close;
      break;
  }
}

std::vector<const Use*> uses_that_count(const GpuMonth& month) {
  std::vector<const Use*> uses;
  for (const recounting::Seen* seen : month.uses) {
    if (seen->counts) uses.push_back(&std::get<Use>(seen->event));
  }
  return uses;
}

/// Counts every GPU's months up to `last`, or all, that changed since they were counted. Prices need no check: one for
/// a counted month is refused, because such a month is closed.
void count_changed(Facts& facts, Booking& booking, std::optional<Month> last) {
  for (auto& [name, gpu] : facts.gpus()) {
    for (auto& [month, gpu_month] : gpu.months) {
      if (last && month > *last) break;
      if (!gpu_month.is_changed) continue;
      MonthCount now = count_month(month, gpu.paid, uses_that_count(gpu_month), facts.prices());
      booking.replace(month, gpu_month.counted, now);
      gpu_month.counted = std::move(now);
      gpu_month.is_changed = false;
    }
  }
}

}  // namespace

Result<Report> recount(std::string_view text, std::string_view file,
                       const std::function<void(std::uint64_t lines)>& progress) {
  Texts texts;
  Facts facts;
  Booking booking;
  LineCounts counts;
  LineReader lines(text);
  while (!lines.is_rest_blank() && lines.next()) {
    Result<Line> line = recounting::read_line(lines.line(), file, lines.number(), texts);
    if (!line) return pass_on(line.error());
    const auto* close = std::get_if<Close>(&line->event);
    const std::optional<Month> closing = close == nullptr ? std::nullopt : std::optional(close->month);
    const Verdict verdict = facts.take(*std::move(line));
    count_line(counts, verdict);
    if (closing && verdict == Verdict::kAccepted) {
      count_changed(facts, booking, closing);
      booking.close(*closing);
    }
    if (progress && counts.lines % kLinesPerProgress == 0) progress(counts.lines);
  }
  count_changed(facts, booking, std::nullopt);
  Report report = booking.finish();
  report.counts = counts;
  report.counts.voided = facts.voided();
  return report;
}

}  // namespace berth::ledger
