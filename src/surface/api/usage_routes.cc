#include "surface/api/usage_routes.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "codec/json_text.h"
#include "live/usage_text.h"
#include "surface/api/api_context.h"
#include "surface/api/paging.h"

namespace berth::api {
namespace {

/// An interval of which nothing was cut yet. Of one that is still open, `row.to_us` is INT64_MAX.
struct UsageView {
  UsageRow row;
  bool is_open = false;
};

struct AskedUsage {
  UsageSpan span;
  std::optional<UsageKey> after;
  std::size_t limit = 0;
};

// ---- keys of pages

std::string key_text(const UsageKey& key) { return fmt::format("{} {} {}", key.gpu, key.start, key.from_us); }

/// The next number of a text, with the space behind it.
template <class Number>
Number take_number(std::string_view& text) {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  text.remove_prefix(std::min<std::size_t>(text.size(), static_cast<std::size_t>(end - text.data()) + 1));
  return number;
}

/// Of a text of `key_text`: tokens are not made by others.
UsageKey key_of(std::string_view text) {
  UsageKey key;
  key.gpu = take_number<std::uint32_t>(text);
  key.start = take_number<std::int32_t>(text);
  key.from_us = take_number<std::int64_t>(text);
  return key;
}

// ---- what is asked for

ApiResult<std::optional<Instant>> parse_time(const ApiContext& context, const HttpRequest& request,
                                             std::string_view name) {
  const auto found = std::ranges::find(request.query, name, &HttpField::name);
  if (found == request.query.end()) return std::nullopt;
  const auto at = context.format.epoch.parse(found->value);
  if (at) return at;
  return tl::unexpected(bad_query(std::string(name), "a time of RFC 3339 such as 2026-11-22T10:00:00Z", found->value));
}

ApiResult<AskedUsage> parse_usage(const ApiContext& context, const HttpRequest& request) {
  const auto page = parse_page(request, {"from", "to"});
  if (!page) return tl::unexpected(page.error());
  const auto from = parse_time(context, request, "from");
  if (!from) return tl::unexpected(from.error());
  const auto to = parse_time(context, request, "to");
  if (!to) return tl::unexpected(to.error());
  AskedUsage asked{.span = {}, .after = std::nullopt, .limit = page->limit};
  if (*from) asked.span.from_us = (*from)->micros();
  if (*to) asked.span.to_us = (*to)->micros();
  if (*from && *to && **from >= **to) {
    return tl::unexpected(bad_query("to", "a time behind from", context.format.epoch.text(**to)));
  }
  if (page->after) asked.after = key_of(*page->after);
  return asked;
}

// ---- what is read

/// The usage that goes on, as far as it is asked for, by key.
std::vector<UsageView> open_usage(const live::Session& session, const AskedUsage& asked) {
  std::vector<UsageView> views;
  const auto& open = session.usage().open();
  const std::uint32_t first = asked.after ? asked.after->gpu : 0;
  for (std::uint32_t gpu = first; gpu < open.size() && views.size() <= asked.limit; ++gpu) {
    for (const live::OpenUsage& what : open[gpu]) {
      const UsageKey key{.gpu = gpu, .start = what.part.start, .from_us = what.from.micros()};
      const bool is_asked = key.from_us < asked.span.to_us && session.now().micros() > asked.span.from_us;
      if (!is_asked || (asked.after && key <= *asked.after) || what.from >= session.now()) continue;
      views.push_back({.row = {.key = key,
                               .units = what.part.units,
                               .to_us = INT64_MAX,
                               .sequence = what.sequence,
                               .body = live::usage_body(session.scenario(), {gpu}, what)},
                       .is_open = session.now().micros() < asked.span.to_us});
    }
  }
  return views;
}

/// At most one more than the page has, by key.
ApiResult<std::vector<UsageView>> read_usage(const ApiContext& context, const live::Session& session,
                                             const AskedUsage& asked) {
  std::vector<UsageView> views = open_usage(session, asked);
  if (context.read_usage) {
    auto rows = context.read_usage(asked.span, asked.after, asked.limit + 1);
    if (!rows) {
      return tl::unexpected(
          ApiError{.status = 500, .code = "unreadable", .message = "usage cannot be read: " + rows.error().message});
    }
    for (UsageRow& row : *rows) views.push_back({.row = std::move(row)});
  }
  std::ranges::sort(views, {}, [](const UsageView& view) { return view.row.key; });
  if (views.size() > asked.limit + 1) views.resize(asked.limit + 1);
  return views;
}

// ---- what is shown

/// The body with its times, cut where it reaches beyond what was asked for.
std::string usage_object(const WorldEpoch& epoch, const UsageView& view, const UsageSpan& span) {
  const Instant from(std::max(view.row.key.from_us, span.from_us));
  const Instant to(std::min(view.row.to_us, span.to_us));
  std::string text = view.row.body;
  text.pop_back();
  return fmt::format(R"({},"from":"{}","to":{},"open":{}}})", text, epoch.text(from),
                     view.is_open ? "null" : codec::json_text(epoch.text(to)), view.is_open);
}

ApiResult<HttpAnswer> list_usage(const ApiContext& context, const Call& call) {
  const auto asked = parse_usage(context, call.request);
  if (!asked) return tl::unexpected(asked.error());
  auto views = context.session.with([&](const live::Session& session) { return read_usage(context, session, *asked); });
  if (!views) return tl::unexpected(views.error());
  std::string next;
  if (views->size() > asked->limit) {
    views->resize(asked->limit);
    next = page_token(call.request, key_text(views->back().row.key));
  }
  std::vector<std::string> items;
  items.reserve(views->size());
  for (const UsageView& view : *views) items.push_back(usage_object(context.format.epoch, view, asked->span));
  return json_response(200, list_object(items, next));
}

}  // namespace

std::vector<Route> usage_routes() {
  return {
      {.method = "GET", .path = "/v1/usage", .answer = list_usage, .takes_query = true},
  };
}

}  // namespace berth::api
