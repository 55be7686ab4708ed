/// The page of "/": it asks for the key, then shows GPUs with their slices, services, the last plan and events from
/// /v1/overview. It loads nothing else.
#pragma once

#include <string>

namespace berth::api {

[[nodiscard]] std::string page_html();

}  // namespace berth::api
