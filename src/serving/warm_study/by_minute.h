/// A trace minute by minute: which apps are invoked in each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "domain/trace/app_trace.h"

namespace berth::warm {

/// An invoked app of a minute.
struct InvokedApp {
  std::size_t app = 0;  ///< its number in the trace
  std::int64_t invocations = 0;
};

/// The same counts as the trace, by minute; in each, apps in the order of the trace. O(minutes + invoked minutes).
class ByMinute {
 public:
  explicit ByMinute(const AppTrace& trace);
  [[nodiscard]] std::span<const InvokedApp> at(std::int64_t minute) const {
    const auto index = static_cast<std::size_t>(minute);
    return std::span(apps_).subspan(firsts_[index], firsts_[index + 1] - firsts_[index]);
  }

 private:
  std::vector<std::size_t> firsts_;  ///< of each minute among `apps_`, and their number
  std::vector<InvokedApp> apps_;
};

}  // namespace berth::warm
