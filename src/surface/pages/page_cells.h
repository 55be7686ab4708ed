/// Facts and table cells of pages, as markup.
#pragma once

#include <string>
#include <string_view>

#include "sim/measure/result.h"

namespace berth::report {

/// The cell of an absent figure.
inline constexpr std::string_view kAbsentCell = R"(<span class="absent">–</span>)";

/// An entry in the list of facts below the headline; `text` is escaped.
[[nodiscard]] std::string fact(std::string_view term, std::string_view text);

/// A cell; on a narrow screen its label precedes it. Both are markup.
[[nodiscard]] std::string table_cell(std::string_view label, std::string_view markup);

/// A figure with a bar behind it; `share`: of the bar's full width, 0 to 1.
[[nodiscard]] std::string barred(std::string_view markup, double share);

/// Shares of SM-time as nested bars, with their figures: "98 › 71 › 44 %".
[[nodiscard]] std::string utilisation_funnel(const measure::Utilisation& used);

/// The header of a column.
[[nodiscard]] std::string column_head(std::string_view markup);

}  // namespace berth::report
