/// Eight colours for categories, which colour-blind readers can distinguish; later ones repeat them under a pattern.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace berth::report {

/// A rectangle in the colour of a category. `geometry`: its attributes, as markup. Requires: the page defines the
/// patterns p0 to p2.
[[nodiscard]] std::string coloured_box(std::size_t hue, std::string_view geometry);

/// The style of text on that colour; over a pattern it has an outline in the plain colour.
[[nodiscard]] std::string letters_on(std::size_t hue);

}  // namespace berth::report
