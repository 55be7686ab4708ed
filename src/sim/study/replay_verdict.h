/// What a replay means to someone who has never used Berth.
#pragma once

#include <string>

#include "sim/study/replay.h"

namespace berth::study {

/// Goodput (of the scenario's objective) by which a static layout may be below `berth` and still be enough.
inline constexpr double kStaticShortfall = 0.001;

/// Plain text of one paragraph: what `berth` gives compared with `static-even` and with the bound, in which columns it
/// is worse, and which policies give more; or that a static layout is enough. Policies with hindsight are not named,
/// and none is called the best: a replay is one run. Where `berth` was not replayed or gave no figure, the text says
/// what is missing.
[[nodiscard]] std::string replay_verdict(const ReplayResult& result);

}  // namespace berth::study
