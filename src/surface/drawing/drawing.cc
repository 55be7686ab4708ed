#include "surface/drawing/drawing.h"

#include <cstddef>

// Embedded by the assembler (cmake/BerthEmbed.cmake).
extern "C" {
extern const char page_css_begin[];
extern const char page_css_end[];
extern const char draw_js_begin[];
extern const char draw_js_end[];
extern const char d3_begin[];
extern const char d3_end[];
}

namespace berth::drawing {
namespace {

std::string_view between(const char* begin, const char* end) { return {begin, static_cast<std::size_t>(end - begin)}; }

}  // namespace

std::string_view style() { return between(page_css_begin, page_css_end); }
std::string_view d3() { return between(d3_begin, d3_end); }
std::string_view script() { return between(draw_js_begin, draw_js_end); }

}  // namespace berth::drawing
