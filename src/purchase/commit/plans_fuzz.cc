// Any bytes give plans with one on demand, or an error with the file's name.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/core/ensure.h"
#include "purchase/commit/plans.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace berth;
  const auto plans = purchase::read_plans({reinterpret_cast<const char*>(bytes), size}, "fuzz");
  if (!plans) {
    ENSURE(plans.error().message.starts_with("fuzz"));
    return 0;
  }
  ENSURE(!plans->on_demand_name.empty());
  for (const purchase::CommitPlan& plan : plans->committed) ENSURE(plan.term_hours > 0);
  return 0;
}
