#include "journal/usage_rows.h"

#include "live/usage_text.h"

namespace berth::journal {

UsageRow row_of(const live::UsageInterval& interval, const Scenario& fleet) {
  const live::OpenUsage& what = interval.what;
  return {.key = {.gpu = interval.gpu.index, .start = what.part.start, .from_us = what.from.micros()},
          .units = what.part.units,
          .to_us = interval.to.micros(),
          .sequence = what.sequence,
          .body = live::usage_body(fleet, interval.gpu, what)};
}

}  // namespace berth::journal
