#include "surface/api/paging.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <ranges>
#include <string_view>
#include <utility>
#include <vector>

#include "base/core/text.h"
#include "base/json/writer.h"

namespace berth::api {
namespace {

constexpr std::int64_t kLimitMax = 500;

// ---- tokens: a sum of path and key, then the key, in hexadecimal digits

constexpr std::size_t kSumDigits = 16;

std::string hex_of(std::string_view text) {
  std::string hex;
  for (const char c : text) hex += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return hex;
}

std::string sum_of(const std::vector<std::string>& path, std::string_view key) {
  std::uint64_t sum = 0xcbf29ce484222325;  // FNV-1a
  for (const char c : fmt::format("{}\n{}", fmt::join(path, "/"), key)) {
    sum = (sum ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  }
  return fmt::format("{:016x}", sum);
}

std::optional<std::string> key_of(const std::vector<std::string>& path, std::string_view token) {
  if (token.size() < kSumDigits || token.size() % 2 != 0) return std::nullopt;
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string key;
  for (std::size_t i = kSumDigits; i < token.size(); i += 2) {
    const std::size_t high = kDigits.find(token[i]);
    const std::size_t low = kDigits.find(token[i + 1]);
    if (high == std::string_view::npos || low == std::string_view::npos) return std::nullopt;
    key += static_cast<char>(high * 16 + low);
  }
  return token == page_token(path, key) ? std::optional(key) : std::nullopt;
}

}  // namespace

ApiError bad_query(const std::string& name, const std::string& wanted, const std::string& found) {
  return {.status = 400,
          .code = "bad_query",
          .message = fmt::format("{}: wanted {}, found {}", name, wanted, found),
          .field = name,
          .wanted = wanted,
          .found = found};
}

std::string page_token(const std::vector<std::string>& path, const std::string& key) {
  return sum_of(path, key) + hex_of(key);
}

ApiResult<AskedPage> parse_page(const HttpRequest& request, const std::vector<std::string_view>& others) {
  AskedPage page;
  std::vector<std::string> seen;
  for (const HttpField& pair : request.query) {
    if (std::ranges::find(seen, pair.name) != seen.end()) {
      return tl::unexpected(bad_query(pair.name, "it once", "it twice"));
    }
    seen.push_back(pair.name);
    if (pair.name == "limit") {
      const auto limit = parse_count(pair.value, kLimitMax);
      if (!limit || *limit < 1) {
        return tl::unexpected(bad_query(pair.name, "a whole number from 1 to 500", pair.value));
      }
      page.limit = static_cast<std::size_t>(*limit);
    } else if (pair.name == "continue") {
      page.after = key_of(request.path, pair.value);
      if (!page.after) return tl::unexpected(bad_query(pair.name, "what the last page of this list gave", pair.value));
    } else if (std::ranges::find(others, pair.name) == others.end()) {
      std::string known = others.empty() ? "" : fmt::format("{}, ", fmt::join(others, ", "));
      return tl::unexpected(bad_query(pair.name, known + "limit or continue", pair.name));
    }
  }
  return page;
}

HttpResponse json_response(int status, std::string body) {
  return {.status = status, .content_type = "application/json", .headers = {}, .body = std::move(body) + "\n"};
}

void put_list(json::Writer& json, const std::vector<std::string>& items, const std::string& next) {
  json.list("items", items, [](json::Writer& to, const std::string& item) { to.written(item); });
  json.open_object("metadata").member("continue", next.empty() ? std::nullopt : std::optional(next)).close_object();
}

std::string list_object(const std::vector<std::string>& items, const std::string& next) {
  json::Writer json;
  put_list(json.open_object(), items, next);
  return json.close_object().take();
}

std::string number_key(std::uint64_t number) { return fmt::format("{:020}", number); }

ApiResult<void> check_no_query(const HttpRequest& request) {
  if (request.query.empty()) return {};
  const std::string& name = request.query.front().name;
  return tl::unexpected(bad_query(name, "no parameters at this path", name));
}

ApiResult<PageRange> find_page(const HttpRequest& request, const ListKeys& list) {
  const auto asked = parse_page(request);
  if (!asked) return tl::unexpected(asked.error());
  PageRange page;
  if (asked->after) {
    const auto indices = std::views::iota(std::size_t{0}, list.count);
    const auto first =
        std::ranges::partition_point(indices, [&](std::size_t index) { return list.key(index) <= *asked->after; });
    page.begin = static_cast<std::size_t>(first - indices.begin());
  }
  page.end = std::min(list.count, page.begin + asked->limit);
  if (page.end < list.count) page.next = page_token(request.path, list.key(page.end - 1));
  return page;
}

}  // namespace berth::api
