#include "surface/pages/optimize_names.h"

#include <vector>

#include "base/core/ensure.h"
#include "surface/pages/ledger_cells.h"
#include "surface/pages/page_parts.h"

namespace berth::report {
namespace {

/// The offsets at which characters of UTF-8 begin, and the end.
std::vector<std::size_t> character_starts(std::string_view text) {
  std::vector<std::size_t> starts;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if ((static_cast<unsigned char>(text[at]) & 0xC0U) != 0x80U) starts.push_back(at);
  }
  starts.push_back(text.size());
  return starts;
}

}  // namespace

std::string_view variant_style(const models::Findings& findings, const models::VariantRecord& variant) {
  if (!variant.is_kept) return "refused";
  return variant.name == findings.recommended ? "best" : "kept";
}

std::string_view variant_verdict(const models::Findings& findings, const models::VariantRecord& variant) {
  const std::string_view style = variant_style(findings, variant);
  return style == "best" ? "recommended" : style;
}

std::string variant_markup(std::string_view name) {
  std::string markup;
  for (const char c : name_markup(name)) {
    markup += c;
    if (c == '+') markup += "<wbr>";
  }
  return markup;
}

std::string picture_name(std::string_view name, std::size_t characters_max) {
  ENSURE(characters_max >= 3);
  const std::vector<std::size_t> starts = character_starts(name);
  const std::size_t count = starts.size() - 1;
  if (count <= characters_max) return whole_name(name);
  const std::size_t front = (characters_max - 1) / 2;
  const std::size_t back = characters_max - 1 - front;
  // The end of a name says most: layers of one block differ there.
  return html_escaped(
      isolated(std::string(name.substr(0, starts[front])) + "…" + std::string(name.substr(starts[count - back]))));
}

std::string whole_name(std::string_view name) { return html_escaped(isolated(name)); }

}  // namespace berth::report
