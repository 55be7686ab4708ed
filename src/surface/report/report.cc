#include "surface/report/report.h"

#include <array>
#include <string_view>
#include <utility>

#include "base/ensure.h"
#include "surface/report/headline.h"
#include "surface/report/page_figures.h"

// The page's parts, put in by the assembler (cmake/BerthEmbed.cmake).
extern "C" {
extern const char d3_begin[];
extern const char d3_end[];
extern const char page_html_begin[];
extern const char page_html_end[];
extern const char page_css_begin[];
extern const char page_css_end[];
extern const char page_js_begin[];
extern const char page_js_end[];
}

namespace berth::report {
namespace {

std::string_view embedded(const char* begin, const char* end) { return {begin, static_cast<std::size_t>(end - begin)}; }

std::string html_escaped(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

/// What stands for each {{mark}} of page.html.
using Parts = std::array<std::pair<std::string_view, std::string>, 6>;

const std::string& part_of(const Parts& parts, std::string_view mark) {
  for (const auto& [name, text] : parts) {
    if (name == mark) return text;
  }
  ENSURE(false && "a mark of page.html");
  return parts.front().second;
}

}  // namespace

std::string render_report(const Scenario& scenario, const sim::ReplayResult& result) {
  const Parts parts = {{{"title", html_escaped(result.scenario)},
                        {"headline", html_escaped(headline(scenario, result))},
                        {"css", std::string(embedded(page_css_begin, page_css_end))},
                        {"d3", std::string(embedded(d3_begin, d3_end))},
                        {"figures", page_figures(scenario, result)},
                        {"js", std::string(embedded(page_js_begin, page_js_end))}}};
  std::string page;
  std::string_view rest = embedded(page_html_begin, page_html_end);
  while (true) {
    const std::size_t open = rest.find("{{");
    page += rest.substr(0, open);
    if (open == std::string_view::npos) return page;
    const std::size_t close = rest.find("}}", open);
    ENSURE(close != std::string_view::npos);
    page += part_of(parts, rest.substr(open + 2, close - open - 2));
    rest.remove_prefix(close + 2);
  }
}

}  // namespace berth::report
