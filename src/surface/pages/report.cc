#include "surface/pages/report.h"

#include "sim/study/replay_verdict.h"
#include "surface/drawing/drawing.h"
#include "surface/pages/headline.h"
#include "surface/pages/page_figures.h"
#include "surface/pages/page_parts.h"

// The page's parts, embedded by the assembler (cmake/BerthEmbed.cmake).
extern "C" {
extern const char page_html_begin[];
extern const char page_html_end[];
extern const char page_js_begin[];
extern const char page_js_end[];
}

namespace berth::report {

std::string render_report(const Scenario& scenario, const study::ReplayResult& result) {
  return fill_page(embedded(page_html_begin, page_html_end),
                   {{"title", html_escaped(result.scenario)},
                    {"headline", html_escaped(headline(scenario, result))},
                    {"verdict", html_escaped(study::replay_verdict(result))},
                    {"d3", std::string(drawing::d3())},
                    {"figures", page_figures(scenario, result)},
                    {"js", std::string(drawing::script()) + std::string(embedded(page_js_begin, page_js_end))}});
}

}  // namespace berth::report
