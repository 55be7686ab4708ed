/// The page of `berth size`: compares the GPUs that policies need, as one self-contained HTML page without script.
#pragma once

#include <string>

#include "sim/study/size.h"

namespace berth::report {

/// The page, UTF-8: the answer in words, cost, utilisation and goodput of the policies side by side, and the counts
/// tried. Names are escaped; absent figures are a dash. The same result gives the same bytes.
[[nodiscard]] std::string render_size_report(const study::SizeResult& result);

}  // namespace berth::report
