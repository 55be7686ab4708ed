#include "serving/warm_study/by_minute.h"

#include <numeric>

namespace berth::warm {

ByMinute::ByMinute(const AppTrace& trace) : firsts_(static_cast<std::size_t>(trace.minutes) + 1) {
  for (const AppCounts& app : trace.apps) {
    for (const InvokedMinute& each : app.invoked) ++firsts_[static_cast<std::size_t>(each.minute) + 1];
  }
  std::partial_sum(firsts_.begin(), firsts_.end(), firsts_.begin());
  apps_.resize(firsts_.back());
  std::vector<std::size_t> places(firsts_.begin(), firsts_.end() - 1);
  for (std::size_t app = 0; app < trace.apps.size(); ++app) {
    for (const InvokedMinute& each : trace.apps[app].invoked) {
      apps_[places[static_cast<std::size_t>(each.minute)]++] = {.app = app, .invocations = each.invocations};
    }
  }
}

}  // namespace berth::warm
