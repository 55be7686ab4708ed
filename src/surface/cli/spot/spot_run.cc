#include "surface/cli/spot/spot_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/core/text.h"
#include "purchase/spot/windows.h"
#include "surface/cli/shared/progress_bar.h"
#include "surface/cli/shared/run_outputs.h"
#include "surface/cli/spot/spot_json.h"
#include "surface/cli/spot/spot_table.h"
#include "surface/pages/spot_report.h"

namespace berth::cli {
namespace {

using purchase::Market;
using purchase::SpotStudy;

/// Checks that each window extends to the last deadline.
Result<void> check_lengths(const SpotStudy& study, const std::string& path) {
  const std::int64_t deadline = std::ranges::max(study.deadlines);
  for (const Market& market : study.markets) {
    const auto ticks = static_cast<std::int64_t>(market.is_available.front().size());
    if (ticks * market.tick_seconds >= deadline) continue;
    return invalid(fmt::format("{}: window {} of {}: wanted at least the deadline, {} s, found {} ticks of {} s", path,
                               in_quotes(market.window), in_quotes(market.series.front()), deadline, ticks,
                               market.tick_seconds));
  }
  return {};
}

Result<SpotStudy> read_study(const SpotRequest& request, const Files& files) {
  const auto text = files.read(request.windows_path);
  if (!text) return pass_on(text.error());
  auto markets = purchase::read_windows(*text, request.windows_path);
  if (!markets) return pass_on(markets.error());
  if (request.are_zones_together) markets = purchase::join_zones(*markets, request.windows_path);
  if (!markets) return pass_on(markets.error());
  SpotStudy study = request.study;
  study.markets = std::move(*markets);
  if (auto checked = check_lengths(study, request.windows_path); !checked) return pass_on(checked.error());
  return study;
}

}  // namespace

Result<std::string> run_spot(const SpotRequest& request, const VerbContext& context) {
  RunOutputs outputs;
  const auto study = read_study(request, *context.files);
  if (!study) return pass_on(study.error());
  outputs.begin();
  if (auto opened = outputs.open_report(request.report_dir); !opened) return pass_on(opened.error());
  const auto lines = outputs.open_lines(request.runs_path);
  if (!lines) return pass_on(lines.error());
  const auto per_policy = static_cast<double>(study->markets.size() * study->deadlines.size() * study->restarts.size());
  ProgressBar bar(context.progress(), static_cast<int>(request.policies.size()), steady_now);
  double done = 0;
  const auto scores = purchase::run_spot_study(*study, request.policies, [&](const purchase::SpotRun& run) {
    if ((*lines)->is_open()) (*lines)->add(spot_run_line(run, study->markets[run.market]));
    const auto index = static_cast<int>(done / per_policy);
    done += 1;
    bar.show(fmt::format("{:<16}", purchase::name_of(run.policy)), index, (done - index * per_policy) / per_policy);
    return outputs.may_continue();
  });
  bar.clear();
  if (!scores) return pass_on(outputs.reason_of_stop());
  return outputs.finish({.text =
                             [&] {
                               return request.format == OutputFormat::kJson
                                          ? spot_json(*scores, *study)
                                          : spot_table(*scores, *study, context.has_colour());
                             },
                         .page = [&] { return report::render_spot_report(request.windows_path, *study, *scores); }});
}

}  // namespace berth::cli
