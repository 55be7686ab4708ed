/// Lists in pages: `limit` and `continue` of a query.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "ports/http_server.h"
#include "surface/api/api_error.h"

namespace berth::api {

/// A list, as long as it does not change.
struct ItemList {
  std::size_t count = 0;
  /// What an item is known by as long as it stands. Keys ascend with the index, as texts.
  std::function<std::string(std::size_t)> key;
  std::function<std::string(std::size_t)> item;  ///< its JSON
};

/// One page of the list as JSON. `limit` is 1 to 500, 100 unless given; `continue` is what the last page of the same
/// path gave: the page begins behind the item with which that one ended, so a list that changes in between neither
/// repeats nor leaves out what stands all the time. Unknown and repeated parameters, and a `continue` that no page of
/// this path gave, are errors (400). O(items of the page + log(count)).
[[nodiscard]] ApiResult<HttpAnswer> page_of(const HttpRequest& request, const ItemList& list);

/// A key that ascends with the number.
[[nodiscard]] std::string number_key(std::uint64_t number);

/// An error (400) if the request has a query.
[[nodiscard]] ApiResult<void> check_no_query(const HttpRequest& request);

[[nodiscard]] HttpResponse json_response(int status, std::string body);

}  // namespace berth::api
