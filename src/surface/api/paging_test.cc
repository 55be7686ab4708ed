#include "surface/api/paging.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "surface/api/object_uid.h"

namespace berth::api {
namespace {

using Strings = std::vector<std::string>;

ApiResult<HttpAnswer> ask(const Strings& list, std::vector<HttpField> query, const std::string& path = "gpus") {
  HttpRequest request;
  request.path = {"v1", path};
  request.query = std::move(query);
  const ListKeys keys{.count = list.size(), .key = [&](std::size_t i) { return list[i]; }};
  return page_response(read_page(request, keys, [&](std::size_t i) { return list[i]; }),
                       [](const std::string& item) { return "\"" + item + "\""; });
}

struct PageRead {
  Strings items;
  std::optional<std::string> next;
};

PageRead page_of(const ApiResult<HttpAnswer>& answer) {
  const auto body = nlohmann::json::parse(std::get<HttpResponse>(*answer).body);
  const auto& next = body["metadata"]["continue"];
  return {.items = body["items"].get<Strings>(),
          .next = next.is_null() ? std::nullopt : std::optional(next.get<std::string>())};
}

TEST(Paging, PagesAreTheWholeList) {
  const Strings list{"a", "b", "c", "d", "e"};
  for (const std::string limit : {"1", "2", "3", "4", "5", "6", "500"}) {
    Strings all;
    std::vector<HttpField> query{{"limit", limit}};
    while (true) {
      const PageRead page = page_of(ask(list, query));
      all.insert(all.end(), page.items.begin(), page.items.end());
      if (!page.next) break;
      ASSERT_LT(all.size(), list.size());
      query = {{"limit", limit}, {"continue", *page.next}};
    }
    EXPECT_EQ(all, list) << limit;
  }
}

TEST(Paging, AListThatChangesNeitherRepeatsNorLeavesOutWhatStands) {
  const PageRead first = page_of(ask({"a", "c", "e", "g"}, {{"limit", "2"}}));
  EXPECT_EQ(first.items, (Strings{"a", "c"}));
  // "c", the last item of the page, is gone, and others were added before and after it.
  const PageRead second = page_of(ask({"a", "b", "d", "e", "g"}, {{"limit", "2"}, {"continue", *first.next}}));
  EXPECT_EQ(second.items, (Strings{"d", "e"}));
  const PageRead third = page_of(ask({"g"}, {{"continue", *second.next}}));
  EXPECT_EQ(third.items, (Strings{"g"}));
  EXPECT_FALSE(third.next.has_value());
}

TEST(Paging, APageOfLongItemsEndsEarlierButHasOne) {
  // "a 0.6" is an item of 0.6 of the size limit of a page, padded with spaces, which JSON allows.
  const Strings list{"a 0.6", "b 0.3", "c 0.2", "d 1.5", "e 0.9", "f 0.05"};
  const auto text_of = [](const std::string& item) {
    const auto bytes = static_cast<std::size_t>(std::stod(item.substr(2)) * kPageBytesMax);
    const std::string text = "\"" + item + "\"";
    return text + std::string(bytes - text.size(), ' ');
  };
  std::vector<Strings> pages;
  HttpRequest request;
  request.path = {"v1", "services"};
  while (pages.size() < list.size()) {
    const ListKeys keys{.count = list.size(), .key = [&](std::size_t i) { return list[i]; }};
    const PageRead page =
        page_of(page_response(read_page(request, keys, [&](std::size_t i) { return list[i]; }), text_of));
    pages.push_back(page.items);
    if (!page.next) break;
    request.query = {{"continue", *page.next}};
  }
  EXPECT_EQ(pages, (std::vector<Strings>{{"a 0.6", "b 0.3"}, {"c 0.2"}, {"d 1.5"}, {"e 0.9", "f 0.05"}}));
}

TEST(Paging, AnEmptyListHasNoNextPage) {
  const PageRead page = page_of(ask({}, {}));
  EXPECT_TRUE(page.items.empty());
  EXPECT_FALSE(page.next.has_value());
}

TEST(Paging, WhatIsMalformedIs400) {
  const Strings list{"a", "b"};
  const std::string token = *page_of(ask(list, {{"limit", "1"}})).next;
  std::string wrong = token;
  wrong.back() = wrong.back() == '1' ? '2' : '1';
  for (const std::vector<HttpField>& query : std::vector<std::vector<HttpField>>{{{"limit", "0"}},
                                                                                 {{"limit", "501"}},
                                                                                 {{"limit", "-1"}},
                                                                                 {{"limit", ""}},
                                                                                 {{"limit", "1.0"}},
                                                                                 {{"limit", "99999999999999999999"}},
                                                                                 {{"limit", "1"}, {"limit", "1"}},
                                                                                 {{"continue", ""}},
                                                                                 {{"continue", "1"}},
                                                                                 {{"continue", "zz" + token.substr(2)}},
                                                                                 {{"continue", wrong}},
                                                                                 {{"continue", token + "00"}},
                                                                                 {{"watch", "true"}}}) {
    const auto answer = ask(list, query);
    ASSERT_FALSE(answer.has_value()) << query[0].name << "=" << query[0].value;
    EXPECT_EQ(answer.error().status, 400);
    EXPECT_EQ(answer.error().code, "bad_query");
    EXPECT_EQ(answer.error().field, query[0].name);
  }
}

TEST(Paging, ATokenOfAnotherListIs400) {
  const std::string token = *page_of(ask({"a", "b"}, {{"limit", "1"}})).next;
  EXPECT_FALSE(ask({"a", "b"}, {{"continue", token}}, "nodes").has_value());
}

TEST(Paging, NumbersAscendAsTexts) {
  const std::vector<std::uint64_t> numbers{0, 1, 9, 10, 99, 100, UINT32_MAX, UINT64_MAX - 1, UINT64_MAX};
  Strings keys;
  for (const std::uint64_t number : numbers) keys.push_back(number_key(number));
  EXPECT_TRUE(std::ranges::is_sorted(keys));
}

TEST(ObjectUid, IsAStableUuidOfWhatMakesTheObject) {
  const UidParts parts{.kind = "Gpu", .tenant = "", .name = "gpu-3", .created_unix_micros = 7};
  const std::string uid = object_uid(parts);
  ASSERT_EQ(uid.size(), 36U);
  for (const std::size_t dash : {8, 13, 18, 23}) EXPECT_EQ(uid[dash], '-');
  EXPECT_EQ(uid[14], '8');
  EXPECT_NE(std::string("89ab").find(uid[19]), std::string::npos);
  EXPECT_EQ(object_uid(parts), uid);
  UidParts later = parts;
  later.created_unix_micros = 8;
  EXPECT_NE(object_uid(later), uid);
  UidParts next = parts;
  next.number = 1;
  EXPECT_NE(object_uid(next), uid);
  EXPECT_NE(object_uid({.kind = "GpuService", .tenant = "a", .name = "b", .created_unix_micros = 7}),
            object_uid({.kind = "GpuService", .tenant = "b", .name = "a", .created_unix_micros = 7}));
}

}  // namespace
}  // namespace berth::api
