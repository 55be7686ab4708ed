#include "models/profiling/sampled_times.h"

namespace berth::models {

void SampledTimes::add(double time_us) {
  if (times_.count % times_.stride == 0) {
    if (times_.sample_us.size() == kSampleMax) thin_out();
    if (times_.count % times_.stride == 0) times_.sample_us.push_back(time_us);
  }
  ++times_.count;
  times_.sum_us += time_us;
}

ProcessTimes SampledTimes::times(double elapsed_us) const {
  ProcessTimes times = times_;
  times.elapsed_us = elapsed_us;
  return times;
}

void SampledTimes::thin_out() {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < times_.sample_us.size(); i += 2) times_.sample_us[kept++] = times_.sample_us[i];
  times_.sample_us.resize(kept);
  times_.stride *= 2;
}

}  // namespace berth::models
