/// Lane time as the events of a ledger (docs/reference/ledger.md).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/core/result.h"
#include "serving/figures/figure_book.h"

namespace berth::serving {

/// What the ledger calls the device.
struct UsageDevice {
  std::string gpu;  ///< unique among all devices of a ledger
  std::string sku;
  int lanes = 1;
};

/// The device has a capacity of 1,000,000. It gives a line `gpu` per minute in which the server ran, and for each
/// tenant, model and second with lane time a line `use` whose weight is the lane time / lanes, in microseconds.
///
/// Spans that begin before the end of something written before give nothing: the clock went back.
class UsageLines {
 public:
  /// `id_prefix`: no other process uses it; at most 90 bytes. `written_until_us`: see `usage_written_until`. Error: a
  /// name of the device that is empty or longer than a ledger takes.
  [[nodiscard]] static Result<UsageLines> make(UsageDevice device, std::string id_prefix,
                                               std::int64_t written_until_us);

  /// The lines of spans that follow those of the last call.
  [[nodiscard]] std::string take(std::span<const UsageSpan> spans);
  /// The line of the minute that is under way: the server ends.
  [[nodiscard]] std::string end();

 private:
  UsageLines(UsageDevice device, std::string id_prefix, std::int64_t written_until_us);

  void add_span(const UsageSpan& span, std::string& lines);
  void end_minute(std::string& lines);
  [[nodiscard]] std::string next_id();

  UsageDevice device_;
  std::string id_prefix_;
  std::int64_t written_until_us_ = 0;
  std::int64_t minute_from_us_ = 0;  ///< the part of a minute that is under way; equal ends: none
  std::int64_t minute_to_us_ = 0;
  std::int64_t next_number_ = 0;
};

/// Until when lines of a file of usage say what this device did, in microseconds since 1970; 0: nothing. Lines that are
/// no events are skipped.
[[nodiscard]] std::int64_t usage_written_until(std::string_view lines, std::string_view gpu);

}  // namespace berth::serving
