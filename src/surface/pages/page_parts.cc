#include "surface/pages/page_parts.h"

#include "base/core/ensure.h"
#include "surface/drawing/drawing.h"

// The parts that all pages share, embedded by the assembler (cmake/BerthEmbed.cmake).
extern "C" {
extern const char head_html_begin[];
extern const char head_html_end[];
extern const char logo_svg_begin[];
extern const char logo_svg_end[];
extern const char chart_css_begin[];
extern const char chart_css_end[];
}

namespace berth::report {
namespace {

std::string_view without_last_line_break(std::string_view text) {
  if (text.ends_with('\n')) text.remove_suffix(1);
  return text;
}

std::string_view shared_part(std::string_view mark) {
  if (mark == "head") return without_last_line_break(embedded(head_html_begin, head_html_end));
  if (mark == "logo") return without_last_line_break(embedded(logo_svg_begin, logo_svg_end));
  if (mark == "style") return drawing::style();
  ENSURE(mark == "chart_style");
  return embedded(chart_css_begin, chart_css_end);
}

std::string_view part_of(const PageParts& parts, std::string_view mark) {
  for (const auto& [name, text] : parts) {
    if (name == mark) return text;
  }
  return shared_part(mark);
}

}  // namespace

std::string fill_page(std::string_view frame, const PageParts& parts) {
  std::string page;
  while (true) {
    const std::size_t open = frame.find("{{");
    page += frame.substr(0, open);
    if (open == std::string_view::npos) return page;
    const std::size_t close = frame.find("}}", open);
    ENSURE(close != std::string_view::npos);
    page += part_of(parts, frame.substr(open + 2, close - open - 2));
    frame.remove_prefix(close + 2);
  }
}

}  // namespace berth::report
