/// Lists in pages: `limit` and `continue` of a query.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/json/writer.h"
#include "domain/ports/http_server.h"
#include "surface/api/api_error.h"

namespace berth::api {

[[nodiscard]] HttpResponse json_response(int status, std::string body);
/// {"items":[..],"metadata":{"continue":..}}; `next` empty: null.
[[nodiscard]] std::string list_object(const std::vector<std::string>& items, const std::string& next);
/// Adds these two members to an open object.
void put_list(json::Writer& json, const std::vector<std::string>& items, const std::string& next);

/// A query with a parameter that is not what was wanted: 400.
[[nodiscard]] ApiError bad_query(const std::string& name, const std::string& wanted, const std::string& found);

/// Which page of a list a request asks for.
struct AskedPage {
  std::optional<std::string> after;  ///< the key with which the last page ended
  std::size_t limit = 100;
};

/// `others`: parameters that the caller reads itself. The same errors as `find_page`.
[[nodiscard]] ApiResult<AskedPage> parse_page(const HttpRequest& request,
                                              const std::vector<std::string_view>& others = {});
/// What a page of the list of that path gives for the one behind the item of that key.
[[nodiscard]] std::string page_token(const std::vector<std::string>& path, const std::string& key);

/// A list, as long as it does not change.
struct ListKeys {
  std::size_t count = 0;
  /// What an item is known by as long as it stands. Keys ascend with the index, as texts.
  std::function<std::string(std::size_t)> key;
};

/// A part of a list, by indices: [begin, end).
struct PageRange {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string next;  ///< the page behind it; empty: there is none
};

/// The part that a request is about. `limit` is 1 to 500, 100 unless given; `continue` is what the last page of the
/// same path gave: the page begins behind the item with which that one ended, so a list that changes in between
/// neither repeats nor leaves out what stands all the time. Unknown and repeated parameters, and a `continue` that no
/// page of this path gave, are errors (400). O(log(count)).
[[nodiscard]] ApiResult<PageRange> find_page(const HttpRequest& request, const ListKeys& list);

/// Of the items of a page, as texts: a page ends before the item with which it would have more, but has one at least.
inline constexpr std::size_t kPageBytesMax = std::size_t{8} << 20U;

/// The items of a page by values that own what they hold.
template <class View>
struct Page {
  std::vector<std::string> path;  ///< of the request
  std::vector<View> items;
  std::vector<std::string> keys;  ///< of the items
  std::string next;
};

/// Reads a page of a list; `view_of` reads the item of an index.
template <class ViewOf>
[[nodiscard]] auto read_page(const HttpRequest& request, const ListKeys& list, const ViewOf& view_of)
    -> ApiResult<Page<std::invoke_result_t<ViewOf, std::size_t>>> {
  auto range = find_page(request, list);
  if (!range) return tl::unexpected(range.error());
  Page<std::invoke_result_t<ViewOf, std::size_t>> page{
      .path = request.path, .items = {}, .keys = {}, .next = std::move(range->next)};
  page.items.reserve(range->end - range->begin);
  page.keys.reserve(range->end - range->begin);
  for (std::size_t index = range->begin; index < range->end; ++index) {
    page.items.push_back(view_of(index));
    page.keys.push_back(list.key(index));
  }
  return page;
}

/// The answer of a page; `object_of` makes the JSON of an item. It ends earlier where its items are long, see
/// kPageBytesMax.
template <class View, class ObjectOf>
[[nodiscard]] ApiResult<HttpAnswer> page_response(const ApiResult<Page<View>>& page, const ObjectOf& object_of) {
  if (!page) return tl::unexpected(page.error());
  std::vector<std::string> items;
  items.reserve(page->items.size());
  std::size_t bytes = 0;
  for (const View& view : page->items) {
    std::string item = object_of(view);
    bytes += item.size();
    if (bytes > kPageBytesMax && !items.empty()) {
      return json_response(200, list_object(items, page_token(page->path, page->keys[items.size() - 1])));
    }
    items.push_back(std::move(item));
  }
  return json_response(200, list_object(items, page->next));
}

/// A key that ascends with the number.
[[nodiscard]] std::string number_key(std::uint64_t number);

/// An error (400) if the request has a query.
[[nodiscard]] ApiResult<void> check_no_query(const HttpRequest& request);

}  // namespace berth::api
