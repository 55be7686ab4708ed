/// The page of "/": it asks for the key, or exchanges the token of a login address for one, then shows GPUs with their
/// slices, services, the last plan and events from /v1/overview, and the last hour from /v1/series. It loads nothing
/// else.
#pragma once

#include <string>

namespace berth::api {

[[nodiscard]] std::string page_html();

}  // namespace berth::api
