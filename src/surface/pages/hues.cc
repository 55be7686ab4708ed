#include "surface/pages/hues.h"

#include <fmt/format.h>

namespace berth::report {
namespace {

constexpr std::size_t kHueCount = 8;

}  // namespace

std::string coloured_box(std::size_t hue, std::string_view geometry) {
  constexpr std::size_t kPatternCount = 3;
  std::string svg =
      fmt::format(R"svg(<rect class="slice serving" {} style="fill:var(--t{})"/>)svg", geometry, hue % kHueCount);
  if (hue < kHueCount) return svg;
  return svg + fmt::format(R"svg(<rect class="slice serving" {} style="fill:url(#p{})"/>)svg", geometry,
                           (hue / kHueCount - 1) % kPatternCount);
}

std::string letters_on(std::size_t hue) {
  std::string fill = fmt::format("fill:var(--on{})", hue % kHueCount);
  if (hue < kHueCount) return fill;
  return fill + fmt::format(";paint-order:stroke;stroke:var(--t{});stroke-width:4px", hue % kHueCount);
}

}  // namespace berth::report
