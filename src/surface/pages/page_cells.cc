#include "surface/pages/page_cells.h"

#include <fmt/format.h>

#include <algorithm>

#include "surface/pages/page_parts.h"

namespace berth::report {

std::string fact(std::string_view term, std::string_view text) {
  return fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", term, html_escaped(text));
}

std::string table_cell(std::string_view label, std::string_view markup) {
  return fmt::format(R"(<td data-label="{}">{}</td>)", label, markup);
}

std::string barred(std::string_view markup, double share) {
  return fmt::format(R"(<span class="cell"><i style="width:{:.1f}%"></i><b>{}</b></span>)",
                     std::clamp(share, 0.0, 1.0) * 100, markup);
}

std::string utilisation_funnel(const measure::Utilisation& used) {
  const auto layer = [](int index, double share) {
    return fmt::format(R"(<i class="f{}" style="width:{:.1f}%"></i>)", index, std::clamp(share, 0.0, 1.0) * 100);
  };
  return fmt::format(
      R"(<span class="funnel"><span class="track">{}{}{}</span><small>{:.0f} › {:.0f} › {:.0f} %</small></span>)",
      layer(0, used.allocated), layer(1, used.busy), layer(2, used.effective), used.allocated * 100, used.busy * 100,
      used.effective * 100);
}

std::string column_head(std::string_view markup) { return fmt::format(R"(<th scope="col">{}</th>)", markup); }

}  // namespace berth::report
