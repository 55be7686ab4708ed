#include "surface/cli/shared/time_text.h"

#include <fmt/format.h>

#include "base/core/date.h"
#include "base/core/month.h"

namespace berth::cli {

std::string time_text(std::int64_t us) {
  const std::int64_t second = us % kMicrosPerDay / 1'000'000;
  const std::int64_t fraction = us % 1'000'000;
  std::string text =
      fmt::format("{} {:02}:{:02}:{:02}", Date(day_of(us)).to_string(), second / 3600, second / 60 % 60, second % 60);
  if (fraction != 0) text += fmt::format(".{:06}", fraction);
  return text;
}

}  // namespace berth::cli
