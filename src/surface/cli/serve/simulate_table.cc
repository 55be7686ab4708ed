#include "surface/cli/serve/simulate_table.h"

#include <fmt/format.h>

#include "serving/simulation/policy_name.h"
#include "surface/cli/shared/text_table.h"

namespace berth::cli {
namespace {

using serving::ServingFigures;

std::string share_text(std::int64_t part, std::int64_t whole) {
  if (whole == 0) return std::string(kAbsentText);
  return fmt::format("{:.2f} %", 100 * static_cast<double>(part) / static_cast<double>(whole));
}

std::string millis_text(const std::optional<Micros>& time) {
  return shown(time, [](Micros micros) { return fmt::format("{:.1f} ms", static_cast<double>(micros.count()) / 1e3); });
}

/// The columns that a policy, a model and a tenant have.
std::vector<std::string> common_cells(std::string name, const ServingFigures& figures) {
  return {std::move(name),
          with_separators(figures.requests),
          share_text(figures.in_time, figures.requests),
          share_text(figures.late, figures.requests),
          share_text(figures.dropped, figures.requests),
          millis_text(figures.latency_p50),
          millis_text(figures.latency_p99)};
}

std::vector<std::string> headings(std::string name) {
  return {std::move(name), "requests", "in time", "late", "dropped", "p50", "p99"};
}

std::vector<std::string> policy_row(const PolicyOutcome& policy, int lanes) {
  const serving::RunFigures& run = policy.figures;
  std::vector<std::string> row = common_cells(serving::name_of(policy.policy), run.total);
  row.push_back(share_text(run.total.busy.count(), run.end.micros() * lanes));
  row.push_back(run.total.batches == 0 ? std::string(kAbsentText)
                                       : fmt::format("{:.1f}", static_cast<double>(run.total.in_time + run.total.late) /
                                                                   static_cast<double>(run.total.batches)));
  row.push_back(with_separators(run.loads));
  row.push_back(fmt::format("{:.1f} s", run.load_time.to_seconds()));
  return row;
}

std::string named_table(std::string heading, const std::vector<std::string>& names,
                        const std::vector<ServingFigures>& figures, bool has_colour) {
  std::vector<std::vector<std::string>> rows = {headings(std::move(heading))};
  for (std::size_t i = 0; i < names.size(); ++i) rows.push_back(common_cells(names[i], figures[i]));
  return styled_table(rows, has_colour);
}

}  // namespace

std::string simulate_table(const serving::ServingCase& serving_case, const std::vector<PolicyOutcome>& policies,
                           bool has_colour) {
  const serving::SimulatedDevice& device = serving_case.device;
  std::string text = wrapped(fmt::format("simulated on {}{}: {} requests to {} models, {} lane{}", device.name,
                                         device.origin.empty() ? "" : " (" + device.origin + ")",
                                         with_separators(std::ssize(serving_case.recorded.requests)),
                                         serving_case.models.size(), device.lanes, device.lanes == 1 ? "" : "s")) +
                     "\n\n";
  std::vector<std::vector<std::string>> rows = {headings("policy")};
  for (const char* heading : {"lanes busy", "rows in a batch", "loads", "load time"})
    rows.front().emplace_back(heading);
  for (const PolicyOutcome& policy : policies) rows.push_back(policy_row(policy, device.lanes));
  text += styled_table(rows, has_colour);
  const PolicyOutcome& first = policies.front();
  const std::string name = serving::name_of(first.policy);
  if (serving_case.models.size() > 1) {
    text += "\n" + named_table("model, " + name, serving_case.recorded.models, first.figures.models, has_colour);
  }
  if (serving_case.tenants.size() > 1) {
    text += "\n" + named_table("tenant, " + name, serving_case.recorded.tenants, first.figures.tenants, has_colour);
  }
  return text;
}

}  // namespace berth::cli
