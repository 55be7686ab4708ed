/// Single runs of a spot study, tick by tick: what was available, and what each policy held.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "purchase/spot/study.h"

namespace berth::report {

/// A run that is shown, and why.
struct SpotStripRun {
  std::size_t index = 0;  ///< among the runs of each policy
  std::string why;
};

/// The run in which `berth` saves most against the best rival, and the one in which it loses most, if there are such
/// runs. Without `berth` or without a rival: the most expensive run.
[[nodiscard]] std::vector<SpotStripRun> chosen_spot_runs(const std::vector<purchase::SpotScore>& scores);

/// The availability of the zones with a row for each policy below.
[[nodiscard]] std::string spot_strip_figure(const purchase::SpotStudy& study,
                                            const std::vector<purchase::SpotScore>& scores, const SpotStripRun& run);

/// What the colours and marks mean.
[[nodiscard]] std::string spot_strip_key(const purchase::SpotStudy& study,
                                         const std::vector<purchase::SpotScore>& scores);

}  // namespace berth::report
