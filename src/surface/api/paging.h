/// Lists in pages: `limit` and `continue` of a query.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "ports/http_server.h"
#include "surface/api/api_error.h"

namespace berth::api {

/// One page of `count` items, each made by `item`: the JSON of a list. `limit` is 1 to 500, 100 unless given;
/// `continue` is what the last page gave. Unknown and repeated parameters are errors (400). O(items of the page).
[[nodiscard]] ApiResult<HttpAnswer> page_of(const HttpRequest& request, std::size_t count,
                                            const std::function<std::string(std::size_t)>& item);

[[nodiscard]] HttpResponse json_response(int status, std::string body);

}  // namespace berth::api
