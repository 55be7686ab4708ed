/// The style and the scripts that the pages share; each is embedded in a page unchanged.
#pragma once

#include <string_view>

namespace berth::drawing {

[[nodiscard]] std::string_view style();
/// d3, version 3.
[[nodiscard]] std::string_view d3();
/// Defines `BerthDraw`; needs d3 before it.
[[nodiscard]] std::string_view script();

}  // namespace berth::drawing
