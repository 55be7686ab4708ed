/// The figures of a study as a table of a page.
#pragma once

#include <string>

#include "surface/figures/figure_table.h"

namespace berth::report {

/// The headers of the columns that have a label.
[[nodiscard]] std::string figure_heads(const figures::FigureTable& table);

/// A line of markup for each row. The first column with a label has the row headers; Berth's own row has the class
/// `ours`.
[[nodiscard]] std::string figure_rows(const figures::FigureTable& table);

}  // namespace berth::report
