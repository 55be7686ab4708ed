/// The page of "/": it asks for the key, and then shows services, slices and the last plan.
#pragma once

#include <string_view>

namespace berth::api {

[[nodiscard]] std::string_view page_html();

}  // namespace berth::api
