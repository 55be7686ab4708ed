#include "purchase/spot/verdict.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/core/figure_text.h"

namespace berth::purchase {

const SpotScore* score_of_policy(const std::vector<SpotScore>& scores, SpotPolicy policy) {
  const auto it = std::ranges::find(scores, policy, &SpotScore::policy);
  return it == scores.end() ? nullptr : &*it;
}

std::string spot_verdict(const std::vector<SpotScore>& scores) {
  const SpotScore* ours = score_of_policy(scores, SpotPolicy::kBerth);
  if (ours == nullptr) return "";
  const Decimal mean = ours->totals.average_usd();
  std::string text = fmt::format("Run such jobs by berth: {} a run", usd_text(mean));
  const auto compare = [&](SpotPolicy policy, const char* words) {
    const SpotScore* other = score_of_policy(scores, policy);
    if (other == nullptr || other->totals.average_usd().sign() <= 0) return;
    const double share = 1 - (mean / other->totals.average_usd()).to_double();
    text +=
        fmt::format(", {:.1f}% {} than {}", share < 0 ? -share * 100 : share * 100, share < 0 ? "more" : "less", words);
  };
  compare(SpotPolicy::kOnDemand, "on demand");
  compare(SpotPolicy::kUniformProgress, "uniform-progress");
  compare(SpotPolicy::kOptimal, "with hindsight (optimal)");
  text += fmt::format("; {} of {} deadlines missed.", with_separators(ours->totals.missed),
                      with_separators(ours->totals.runs));
  return text;
}

std::string spot_assumption(const SpotStudy& study) {
  return fmt::format(
      "Assumed: the recorded windows, {} an hour on demand and {} on spot, a restart after each change. Score: 0 is "
      "on demand, 100 spot all the time without a restart.",
      dollars(study.prices.on_demand_micro_usd), dollars(study.prices.spot_micro_usd));
}

std::string hours_text(std::int64_t seconds) {
  constexpr std::int64_t kHour = 3600;
  return Decimal(seconds, kHour).to_string();
}

std::string usd_text(const Decimal& usd) {
  constexpr int kCents = 2;
  return "$" + with_digits(usd, kCents);
}

}  // namespace berth::purchase
