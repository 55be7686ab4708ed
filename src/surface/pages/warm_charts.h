/// The charts of the page of `berth warm`.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "serving/warm_study/policies.h"
#include "serving/warm_study/problem.h"

namespace berth::report {

/// Cold shares against idle minutes, a point for each policy, ours joined by a line; empty with a memory or without
/// invocations.
[[nodiscard]] std::string warm_share_figures(const warm::Problem& problem,
                                             const std::vector<warm::PolicyResult>& results);

/// The app whose strip shows most: the one with the most gaps of at least five minutes that ended warm; of equals the
/// first. Nothing if no app is ever loaded.
[[nodiscard]] std::optional<std::size_t> shown_app(const warm::Problem& problem, const warm::PolicyResult& result);

/// When an app was invoked and when it was loaded, in rows of equal length.
[[nodiscard]] std::string warm_strip_figure(const warm::Problem& problem, const warm::PolicyResult& result,
                                            std::size_t app);
[[nodiscard]] std::string warm_strip_key();

}  // namespace berth::report
