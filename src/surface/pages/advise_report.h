/// The page of `berth advise`: instances as boxes with the pods that fill them, as one self-contained HTML page without
/// script.
#pragma once

#include <cstddef>
#include <string>

#include "purchase/advise/verdict.h"

namespace berth::report {

/// The page, UTF-8: the answer in words, its cost compared with the bound and the rivals, the instances by offer, and a
/// picture of each kind of filling. Names are escaped. Instances that are filled alike share a picture, the first
/// `kAdvicePicturesMax` are drawn, and the page says so. The same arguments give the same bytes. Requires: the advice
/// is for the pods, with at least one instance.
[[nodiscard]] std::string render_advise_report(const purchase::advise::AdviceCase& advice_case);

inline constexpr std::size_t kAdvicePicturesMax = 120;

}  // namespace berth::report
