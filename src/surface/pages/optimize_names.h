/// Names of variants and nodes on the page of `berth optimize`. They come from files: they are isolated and escaped.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "models/optimize/findings.h"

namespace berth::report {

/// "best", "kept" or "refused": the style of a variant's marks.
[[nodiscard]] std::string_view variant_style(const models::Findings& findings, const models::VariantRecord& variant);
/// "recommended", "kept" or "refused".
[[nodiscard]] std::string_view variant_verdict(const models::Findings& findings, const models::VariantRecord& variant);

/// The name of a variant as markup of HTML; lines break at its pluses first.
[[nodiscard]] std::string variant_markup(std::string_view name);

/// A name as text of a picture, escaped; its middle is left out beyond `characters_max`. Requires: at least 3.
[[nodiscard]] std::string picture_name(std::string_view name, std::size_t characters_max);
/// The whole name, for a <title>, a label or an attribute; escaped.
[[nodiscard]] std::string whole_name(std::string_view name);

}  // namespace berth::report
