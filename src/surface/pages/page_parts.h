/// Assembles pages: a frame with {{marks}}, the text of each mark, and escaping.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "surface/figures/markup.h"

namespace berth::report {

/// A file that the assembler embedded in the program (cmake/BerthEmbed.cmake).
[[nodiscard]] inline std::string_view embedded(const char* begin, const char* end) {
  return {begin, static_cast<std::size_t>(end - begin)};
}

using figures::html_escaped;

/// The text for each mark.
using PageParts = std::vector<std::pair<std::string_view, std::string>>;

/// The frame with each {{mark}} replaced. {{head}} (the start of the head of a page without a script), {{logo}},
/// {{style}} and {{chart_style}} are the same for all pages and filled in here. Requires: every other mark has a part.
[[nodiscard]] std::string fill_page(std::string_view frame, const PageParts& parts);

}  // namespace berth::report
