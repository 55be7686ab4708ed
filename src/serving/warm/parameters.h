/// The parameters of the predictor: one set for all loads. docs/reference/warm.md states their origin.
#pragma once

#include <cstddef>

namespace berth::warm {

/// How much of its weight a gap keeps with each later gap of the same key.
inline constexpr double kGapDecay = 0.98;
/// How many gaps the prior counts as.
inline constexpr double kPriorGaps = 0.5;
/// How many minutes of exposure the guess before any gap counts as in the pool, and the pool's own guess in its finer
/// table.
inline constexpr double kGuessMinutes = 30;
inline constexpr double kCoarseMinutes = 10;
/// The guess before any gap: 0.5 / (minutes since the last invocation + 2) in each minute.
inline constexpr double kGuessRate = 0.5;
inline constexpr double kGuessOffset = 2;
/// A remembered gap stands for gaps up to this many mean distances away.
inline constexpr double kSpreads = 2;
/// The distance that one gap seen before any other counts as.
inline constexpr double kFirstDistance = 0.5;
/// The invocations at which a cold start of an app counts as one when apps are weighed: 10 %.
inline constexpr double kAppInvocations = 10;

/// The different gaps that a key remembers, the heaviest ones.
inline constexpr std::size_t kGapsMax = 64;
/// The last gaps, for reasons in words.
inline constexpr std::size_t kRecentGapsMax = 16;

}  // namespace berth::warm
