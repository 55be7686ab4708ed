// Any bytes give a trace whose sums are right or an error with the file's name, as either format.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/core/ensure.h"
#include "domain/trace/app_trace.h"

namespace {

void check_app(const berth::AppCounts& app, std::int64_t minutes) {
  ENSURE(!app.app.empty() && !app.invoked.empty());
  std::int64_t sum = 0;
  std::int64_t before = -1;
  for (const berth::InvokedMinute& each : app.invoked) {
    ENSURE(each.minute > before && each.minute < minutes && each.invocations > 0);
    before = each.minute;
    sum += each.invocations;
  }
  ENSURE(sum == app.invocations);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  for (const auto read : {berth::read_azure_apps, berth::read_app_csv}) {
    const auto trace = read(text, "f");
    if (!trace) ENSURE(trace.error().message.starts_with("f:") && trace.error().message.size() < 1000);
    if (!trace) continue;
    ENSURE(trace->minutes > 0 && trace->minutes <= berth::kAppMinutesMax * 2);
    for (const berth::AppCounts& app : trace->apps) check_app(app, trace->minutes);
  }
  return 0;
}
