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

/// 400: a query parameter has a wrong value.
[[nodiscard]] ApiError bad_query(const std::string& name, const std::string& wanted, const std::string& found);

/// The page of a list that a request asks for.
struct AskedPage {
  std::optional<std::string> after;  ///< the last key of the previous page
  std::size_t limit = 100;
};

/// `others`: parameters that the caller reads itself. Errors: those of `find_page`.
[[nodiscard]] ApiResult<AskedPage> parse_page(const HttpRequest& request,
                                              const std::vector<std::string_view>& others = {});
/// The `continue` of a page of the list at `path` whose last item has this key.
[[nodiscard]] std::string page_token(const std::vector<std::string>& path, const std::string& key);

/// A list, valid until it changes.
struct ListKeys {
  std::size_t count = 0;
  /// The key of an item, constant during its life. Keys ascend with the index, in text order.
  std::function<std::string(std::size_t)> key;
};

/// A part of a list, by indices: [begin, end).
struct PageRange {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string next;  ///< the `continue` of the next page; empty: this is the last
};

/// The part that a request asks for. `limit` is 1 to 500, 100 unless given. `continue` comes from the previous page of
/// the same path: the page begins after the last item of that one, so that if the list changes in between, no item that
/// exists throughout is repeated or left out. Unknown and repeated parameters, and a `continue` that no page of this
/// path returned, are errors (400). O(log(count)).
[[nodiscard]] ApiResult<PageRange> find_page(const HttpRequest& request, const ListKeys& list);

/// Of the texts of a page's items: a page ends before the item that would exceed this, but has at least one.
inline constexpr std::size_t kPageBytesMax = std::size_t{8} << 20U;

/// The items of a page, as values that own what they hold.
template <class View>
struct Page {
  std::vector<std::string> path;  ///< of the request
  std::vector<View> items;
  std::vector<std::string> keys;  ///< of the items
  std::string next;
};

/// Reads a page of a list; `view_of` reads the item at an index. Errors: those of `find_page`.
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

/// The response for a page; `object_of` formats an item as JSON. The page ends earlier if its items are long, see
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

/// A key whose text order is that of the numbers.
[[nodiscard]] std::string number_key(std::uint64_t number);

/// An error (400) if the request has a query.
[[nodiscard]] ApiResult<void> check_no_query(const HttpRequest& request);

}  // namespace berth::api
