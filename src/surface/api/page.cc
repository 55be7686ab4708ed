#include "surface/api/page.h"

#include <array>
#include <utility>

#include "base/core/ensure.h"
#include "surface/drawing/drawing.h"

extern "C" {
extern const char live_page_begin[];
extern const char live_page_end[];
extern const char live_js_begin[];
extern const char live_js_end[];
extern const char live_hour_begin[];
extern const char live_hour_end[];
}

namespace berth::api {

std::string page_html() {
  std::string page(live_page_begin, static_cast<std::size_t>(live_page_end - live_page_begin));
  const std::string_view js{live_js_begin, static_cast<std::size_t>(live_js_end - live_js_begin)};
  const std::string_view hour{live_hour_begin, static_cast<std::size_t>(live_hour_end - live_hour_begin)};
  const std::array<std::pair<std::string_view, std::string_view>, 5> parts = {{{"{{css}}", drawing::style()},
                                                                               {"{{d3}}", drawing::d3()},
                                                                               {"{{draw}}", drawing::script()},
                                                                               {"{{hour}}", hour},
                                                                               {"{{js}}", js}}};
  for (const auto& [mark, text] : parts) {
    const std::size_t at = page.find(mark);
    ENSURE(at != std::string::npos);
    page.replace(at, mark.size(), text);
  }
  return page;
}

}  // namespace berth::api
