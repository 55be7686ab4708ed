/// An answer in words that the table and the page share.
#pragma once

#include <string>
#include <vector>

#include "tier/choose/answer.h"

namespace berth::tier {

/// What to take, what it saves against the biggest tier, how sure that is; or that no tier may be taken, and why.
/// "Take a30: $1.4 per hour for 2 slices, 61.90% less than a100; it keeps the target with probability 0.94."
[[nodiscard]] std::string tier_verdict(const TierAnswer& answer);

/// "Nothing is sure enough (0.9): ..."; empty if the choice is sure enough, or there is none.
[[nodiscard]] std::string doubt_text(const TierAnswer& answer);

/// A sentence for each change: "At $0.31 per hour or less for t4, t4 wins."
[[nodiscard]] std::string change_text(const TierAnswer& answer, const TierChange& change);

/// "Measure a10 next: it keeps the target with probability 0.71; that saves $0.2 per hour (4.00%) in expectation, with
/// what a miss costs."; empty if nothing is worth measuring.
[[nodiscard]] std::string next_text(const TierAnswer& answer);

/// "40 requests per second within 50 ms", "900 samples per second".
[[nodiscard]] std::string target_text(const ChooseCall& call);

/// What the answer assumes, in one paragraph.
[[nodiscard]] std::string tier_assumption(const TierAnswer& answer);

/// A decimal exactly if that is short, else with ten significant digits.
[[nodiscard]] std::string plain_number(const Decimal& value);

}  // namespace berth::tier
