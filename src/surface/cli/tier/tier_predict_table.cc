#include "surface/cli/tier/tier_predict_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/core/figure_text.h"
#include "surface/cli/shared/text_table.h"
#include "tier/choose/verdict.h"

namespace berth::cli {
namespace {

using tier::TierAnswer;
using tier::TierProspect;

constexpr std::size_t kSharesShownMax = 5;

std::string spread_cell(const std::optional<double>& median, const std::optional<double>& p10,
                        const std::optional<double>& p90, bool is_measured) {
  if (!median) return std::string(kAbsentText);
  if (is_measured) return significant(*median);
  return fmt::format("{} ({} to {})", significant(*median), shown(p10, significant), shown(p90, significant));
}

std::string rate_cell(const TierProspect& prospect) {
  if (!prospect.per_second) return std::string(kAbsentText);
  return spread_cell(prospect.per_second->median, prospect.per_second->p10, prospect.per_second->p90,
                     prospect.is_measured);
}

std::string basis_cell(const TierProspect& prospect) {
  if (prospect.excluded) return "excluded";
  if (prospect.is_measured) return "measured";
  return prospect.per_second ? "predicted" : "unknown";
}

std::vector<std::string> tier_row(const TierAnswer& answer, std::size_t i) {
  const TierProspect& prospect = answer.prospects[i];
  const bool is_taken = answer.choice && answer.choice->tier == i;
  std::vector<std::string> row = {fmt::format("{} {}", is_taken ? ">" : " ", answer.call.tiers[i].name),
                                  significant(answer.call.tiers[i].usd_per_hour.to_double()), rate_cell(prospect)};
  if (answer.call.kind == tier::TierKind::kServices) {
    row.push_back(
        spread_cell(prospect.latency_ms, prospect.latency_ms_p10, prospect.latency_ms_p90, prospect.is_measured));
    row.push_back(shown(prospect.units, tier::plain_number));
  }
  row.push_back(shown(cost_shown(answer, i), [](const Decimal& cost) { return significant(cost.to_double()); }));
  row.push_back(shown(mean_cost_shown(answer, i), significant));
  row.push_back(shown(prospect.probability, [](double probability) { return fmt::format("{:.3f}", probability); }));
  row.push_back(basis_cell(prospect));
  return row;
}

std::vector<std::vector<std::string>> tier_rows(const TierAnswer& answer) {
  const bool is_service = answer.call.kind == tier::TierKind::kServices;
  std::vector<std::string> head = {"  tier", "$/hour", is_service ? "requests/s of a slice" : "samples/s"};
  if (is_service) head.insert(head.end(), {"latency ms", "slices"});
  head.insert(head.end(), {is_service ? "cost $/hour" : "$/million samples", "mean", "probability", ""});
  std::vector<std::vector<std::string>> rows = {std::move(head)};
  for (std::size_t i = 0; i < answer.prospects.size(); ++i) rows.push_back(tier_row(answer, i));
  return rows;
}

std::string shares_line(const TierAnswer& answer, std::size_t tier) {
  const auto& shares = answer.shares[tier];
  double sum = 0;
  for (const tier::FeatureShare& share : shares) sum += share.share;
  std::string line = fmt::format("{}: {:.2f} x the anchor:", answer.call.tiers[tier].name, std::exp(sum));
  for (std::size_t i = 0; i < std::min(shares.size(), kSharesShownMax); ++i) {
    line += fmt::format("{} {} {:+.3f}", i == 0 ? "" : ",", shares[i].feature, shares[i].share);
  }
  return line + (shares.size() > kSharesShownMax ? ", ..." : "");
}

std::string predicted_from(const TierAnswer& answer) {
  std::string lines;
  for (std::size_t i = 0; i < answer.shares.size(); ++i) {
    if (!answer.shares[i].empty()) lines += wrapped(shares_line(answer, i)) + "\n";
  }
  return lines.empty() ? "" : "What the features add (logarithms of the ratio):\n" + lines + "\n";
}

std::string remarks(const TierPredictView& view) {
  const TierAnswer& answer = view.answer;
  std::string lines;
  for (std::size_t i = 0; i < answer.prospects.size(); ++i) {
    if (answer.prospects[i].excluded) {
      lines +=
          wrapped(fmt::format("{}: excluded: {}", answer.call.tiers[i].name, *answer.prospects[i].excluded)) + "\n";
    }
  }
  for (const tier::PriceSource& offer : view.offers) {
    lines += wrapped(fmt::format("{}: {} of {} in {}, ${} per GPU and hour, share {}", offer.tier, offer.instance_type,
                                 offer.provider, offer.region, tier::plain_number(offer.usd_per_gpu_hour),
                                 offer.share.to_string())) +
             "\n";
  }
  return lines.empty() ? "" : lines + "\n";
}

std::string changes_text(const TierAnswer& answer) {
  std::string lines;
  for (const tier::TierChange& change : answer.changes) lines += wrapped(change_text(answer, change)) + "\n";
  if (answer.choice && lines.empty()) lines = "No price and no target nearby changes the choice.\n";
  return lines.empty() ? "" : lines + "\n";
}

}  // namespace

std::string tier_predict_table(const TierPredictView& view, bool has_colour) {
  const TierAnswer& answer = view.answer;
  std::string text = wrapped(fmt::format("{} ({}): {}", answer.call.known.name, answer.call.known.group,
                                         tier::target_text(answer.call))) +
                     "\n\n" + styled_table(tier_rows(answer), has_colour) + "\n" + remarks(view) +
                     predicted_from(answer) + changes_text(answer);
  for (const std::string& line : {tier::tier_assumption(answer), tier::next_text(answer), tier::doubt_text(answer)}) {
    if (!line.empty()) text += wrapped(line) + "\n";
  }
  return text + wrapped(tier::tier_verdict(answer), std::string::npos) + "\n";
}

}  // namespace berth::cli
