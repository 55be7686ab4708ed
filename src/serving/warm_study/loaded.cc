#include "serving/warm_study/loaded.h"

#include <algorithm>

#include "base/core/ensure.h"

namespace berth::warm {

void LoadedMinutes::add(MinuteSpan span) {
  if (span.from >= span.to) return;
  if (spans_.empty() || span.from > spans_.back().to) {
    spans_.push_back(span);
    return;
  }
  ENSURE(span.from >= spans_.back().from);
  spans_.back().to = std::max(spans_.back().to, span.to);
}

AppCourse course_of(const AppCounts& app, const LoadedMinutes& loaded) {
  AppCourse course;
  auto invoked = app.invoked.begin();
  for (const MinuteSpan& span : loaded.spans()) {
    for (; invoked != app.invoked.end() && invoked->minute < span.from; ++invoked) ++course.cold_starts;
    const bool is_from_invoked = invoked != app.invoked.begin() && std::prev(invoked)->minute == span.from - 1;
    if (!is_from_invoked) ++course.preloads;
    course.idle_minutes += span.to - span.from;
    for (; invoked != app.invoked.end() && invoked->minute < span.to; ++invoked) --course.idle_minutes;
  }
  course.cold_starts += app.invoked.end() - invoked;
  return course;
}

}  // namespace berth::warm
