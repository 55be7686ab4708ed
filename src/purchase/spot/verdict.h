/// The summary of a comparison of spot policies, in words that the table and the page share.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "purchase/spot/study.h"

namespace berth::purchase {

/// The score of a policy; null if it was not run.
[[nodiscard]] const SpotScore* score_of_policy(const std::vector<SpotScore>& scores, SpotPolicy policy);

/// The recommendation and its saving; empty without `berth`.
[[nodiscard]] std::string spot_verdict(const std::vector<SpotScore>& scores);

/// The recorded windows and the prices behind the comparison.
[[nodiscard]] std::string spot_assumption(const SpotStudy& study);

/// Seconds as hours: "0.02", or a fraction if no decimal is exact.
[[nodiscard]] std::string hours_text(std::int64_t seconds);

/// Dollars and cents, rounded half to even.
[[nodiscard]] std::string usd_text(const Decimal& usd);

}  // namespace berth::purchase
