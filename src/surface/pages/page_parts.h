/// Pages from their parts: a frame with {{marks}}, a text for each, and escaped text that cannot become markup.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "surface/figures/markup.h"

namespace berth::report {

/// A file that the assembler put into the program (cmake/BerthEmbed.cmake).
[[nodiscard]] inline std::string_view embedded(const char* begin, const char* end) {
  return {begin, static_cast<std::size_t>(end - begin)};
}

using figures::html_escaped;

/// The text for each mark.
using PageParts = std::vector<std::pair<std::string_view, std::string>>;

/// The frame with each {{mark}} replaced. {{head}} (what the head of a page without a script begins with), {{logo}},
/// {{style}} and {{chart_style}} are the same for all pages and known here. Requires: every other mark has a part.
[[nodiscard]] std::string fill_page(std::string_view frame, const PageParts& parts);

}  // namespace berth::report
