#include "surface/cli/profile/book_words.h"

#include <fmt/format.h>

#include <cmath>

#include "base/core/clock_text.h"
#include "base/core/figure_text.h"
#include "surface/cli/shared/printable.h"
#include "surface/figures/optimize_words.h"

namespace berth::cli {

std::string place_words(const std::string& label, const ProfilingMachine& machine) {
  if (label.empty()) return printable(machine.device);
  if (machine.device.empty() || machine.device == label) return printable(label);
  return printable(fmt::format("{} ({})", label, machine.device));
}

std::string minute_text(std::int64_t since_1970_us) {
  constexpr std::size_t kDay = 10;
  constexpr std::size_t kMinuteEnd = 16;
  const std::string text = WorldEpoch{}.text(Instant(since_1970_us));
  return text.substr(0, kDay) + " " + text.substr(kDay + 1, kMinuteEnd - kDay - 1);
}

std::string measured_latency_words(const ProfilePoint& point) {
  if (!point.latency_text.empty()) return point.latency_text + " ms";
  return figures::duration_text(point.mean_us);
}

std::string drift_line(const std::string& model, const profile_book::PlaceInForce& place,
                       const profile_book::PointInForce& point) {
  const ProfilePoint& measured = point.measured;
  const double share = point.observed->mean_us / measured.mean_us - 1;
  const std::string source =
      measured.latency_text.empty() ? with_separators(measured.batches) + " batches" : "imported";
  return fmt::format("drift: {} on {}, batch {}: measured {} ({}), observed {} ({} batches): {:.1f} % {}",
                     printable(model), place_words(place.label, place.machine), measured.batch,
                     measured_latency_words(measured), source, figures::duration_text(point.observed->mean_us),
                     with_separators(point.observed->count), std::abs(share) * 100, share > 0 ? "more" : "less");
}

}  // namespace berth::cli
