#include "surface/api/paging.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/text.h"
#include "surface/api/objects.h"

namespace berth::api {
namespace {

constexpr std::int64_t kLimitMax = 500;
constexpr std::int64_t kLimitDefault = 100;

struct Page {
  std::size_t begin = 0;
  std::size_t limit = kLimitDefault;
};

ApiError bad_query(const std::string& name, const std::string& wanted, const std::string& found) {
  return {.status = 400,
          .code = "bad_query",
          .message = fmt::format("{}: wanted {}, found {}", name, wanted, found),
          .field = name,
          .wanted = wanted,
          .found = found};
}

/// The value of a whole number in a query.
ApiResult<std::int64_t> number_of(const HttpField& pair, std::int64_t min, std::int64_t max,
                                  const std::string& wanted) {
  const auto value = parse_count(pair.value, max);
  if (!value || *value < min) return tl::unexpected(bad_query(pair.name, wanted, pair.value));
  return *value;
}

ApiResult<Page> parse_page(const HttpRequest& request, std::size_t count) {
  Page page;
  std::vector<std::string> seen;
  for (const HttpField& pair : request.query) {
    if (std::ranges::find(seen, pair.name) != seen.end()) {
      return tl::unexpected(bad_query(pair.name, "it once", "it twice"));
    }
    seen.push_back(pair.name);
    if (pair.name == "limit") {
      const auto limit = number_of(pair, 1, kLimitMax, "a whole number from 1 to 500");
      if (!limit) return tl::unexpected(limit.error());
      page.limit = static_cast<std::size_t>(*limit);
    } else if (pair.name == "continue") {
      const auto begin = number_of(pair, 0, INT64_MAX, "what the last page gave");
      if (!begin) return tl::unexpected(begin.error());
      page.begin = std::min(count, static_cast<std::size_t>(*begin));
    } else {
      return tl::unexpected(bad_query(pair.name, "limit or continue", pair.name));
    }
  }
  return page;
}

}  // namespace

HttpResponse json_response(int status, std::string body) {
  return {.status = status, .content_type = "application/json", .headers = {}, .body = std::move(body) + "\n"};
}

ApiResult<HttpAnswer> page_of(const HttpRequest& request, std::size_t count,
                              const std::function<std::string(std::size_t)>& item) {
  const auto page = parse_page(request, count);
  if (!page) return tl::unexpected(page.error());
  const std::size_t end = std::min(count, page->begin + page->limit);
  std::vector<std::string> items;
  items.reserve(end - page->begin);
  for (std::size_t index = page->begin; index < end; ++index) items.push_back(item(index));
  return json_response(200, list_object(items, end < count ? fmt::format("{}", end) : ""));
}

}  // namespace berth::api
