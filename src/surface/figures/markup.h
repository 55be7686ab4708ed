/// Text as markup of a page.
#pragma once

#include <string>
#include <string_view>

namespace berth::figures {

/// Escapes text for use between tags and in quoted attributes.
[[nodiscard]] std::string html_escaped(std::string_view text);

}  // namespace berth::figures
