#include "serving/warm_study/sizes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <unordered_map>

#include "base/core/rows.h"

namespace berth::warm {
namespace {

constexpr std::size_t kApp = 0;
constexpr std::size_t kMib = 1;
constexpr std::int64_t kAppMibMax = 1'000'000'000;

std::int64_t rounded_up(const Decimal& number) {
  const std::int64_t whole = number.floor();
  return Decimal(whole) < number ? whole + 1 : whole;
}

}  // namespace

Result<std::vector<std::int64_t>> read_app_sizes(std::string_view text, std::string_view file, const AppTrace& trace) {
  std::unordered_map<std::string_view, std::size_t> numbers;
  for (std::size_t app = 0; app < trace.apps.size(); ++app) numbers.emplace(trace.apps[app].app, app);
  std::vector<std::int64_t> sizes(trace.apps.size());
  Rows rows(text, file, NamedColumns{.required = {"HashApp", "AverageAllocatedMb_pct50"}});
  if (auto begun = rows.begin(); !begun) return pass_on(begun.error());
  for (auto more = rows.next();; more = rows.next()) {
    if (!more) return pass_on(more.error());
    if (!*more) break;
    const auto app = rows.word(kApp);
    if (!app) return pass_on(app.error());
    const auto mib = rows.number(kMib, kAppMibMax);
    if (!mib) return pass_on(mib.error());
    const auto found = numbers.find(*app);
    if (found == numbers.end()) continue;
    sizes[found->second] = std::max({sizes[found->second], rounded_up(*mib), std::int64_t{1}});
  }
  for (std::size_t app = 0; app < sizes.size(); ++app) {
    if (sizes[app] > 0) continue;
    return rows.fail_file(
        fmt::format("wanted a row for each app of the trace, found none for {}", in_quotes(trace.apps[app].app)));
  }
  return sizes;
}

}  // namespace berth::warm
