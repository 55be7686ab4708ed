#include "surface/api/usage_routes.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/sort_stably.h"
#include "codec/json_text.h"
#include "live/usage_text.h"
#include "surface/api/api_context.h"
#include "surface/api/paging.h"
#include "surface/api/time_query.h"

namespace berth::api {
namespace {

/// An interval of which nothing is cut yet.
struct UsageView {
  UsageKey key;
  std::int64_t to_us = 0;                              ///< INT64_MAX: it goes on
  bool is_open = false;                                ///< it goes on, and beyond what was asked for
  std::optional<live::OpenUsage> what = std::nullopt;  ///< that goes on
  std::string body;                                    ///< of what is over
};

UsageView view_of(UsageRow row) { return {.key = row.key, .to_us = row.to_us, .body = std::move(row.body)}; }

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

ApiResult<AskedUsage> parse_usage(const ApiContext& context, const HttpRequest& request) {
  const auto page = parse_page(request, {"from", "to"});
  if (!page) return tl::unexpected(page.error());
  const auto times = parse_times(context.format.epoch, request);
  if (!times) return tl::unexpected(times.error());
  AskedUsage asked{.span = {}, .after = std::nullopt, .limit = page->limit};
  if (times->from) asked.span.from_us = times->from->micros();
  if (times->to) asked.span.to_us = times->to->micros();
  if (page->after) asked.after = key_of(*page->after);
  return asked;
}

// ---- what is read

bool is_asked(const AskedUsage& asked, const UsageKey& key, std::int64_t to_us) {
  return key.from_us < asked.span.to_us && to_us > asked.span.from_us && (!asked.after || key > *asked.after);
}

/// The usage that goes on, as far as it is asked for: at least one more than the page has, if there are so many.
void add_open_usage(const live::Session& session, const AskedUsage& asked, std::vector<UsageView>& views) {
  const auto& open = session.usage().open();
  for (std::uint32_t gpu = asked.after ? asked.after->gpu : 0; gpu < open.size() && views.size() <= asked.limit;
       ++gpu) {
    for (const live::OpenUsage& what : open[gpu]) {
      const UsageKey key{.gpu = gpu, .start = what.part.start, .from_us = what.from.micros()};
      if (what.from >= session.now() || !is_asked(asked, key, session.now().micros())) continue;
      views.push_back({.key = key,
                       .to_us = INT64_MAX,
                       .is_open = session.now().micros() < asked.span.to_us,
                       .what = what,
                       .body = {}});
    }
  }
}

/// What the store does not have, as of one instant of the world.
struct UsageInMemory {
  Instant now;
  std::vector<UsageView> views;
};

UsageInMemory usage_in_memory(const ApiContext& context, const live::Session& session, const AskedUsage& asked) {
  UsageInMemory found{.now = session.now(), .views = {}};
  add_open_usage(session, asked, found.views);
  if (!context.usage.unrecorded) return found;
  for (UsageRow& row : context.usage.unrecorded()) {
    if (is_asked(asked, row.key, row.to_us)) found.views.push_back(view_of(std::move(row)));
  }
  return found;
}

/// At most one more than the page has, by key: as of the instant at which memory was read. What went on then may be
/// over and stored by now, and what began later is left out.
ApiResult<std::vector<UsageView>> read_usage(const ApiContext& context, const AskedUsage& asked) {
  UsageInMemory found =
      context.session.with([&](const live::Session& session) { return usage_in_memory(context, session, asked); });
  std::vector<UsageView>& views = found.views;
  if (context.usage.read) {
    const UsageSpan span{.from_us = asked.span.from_us, .to_us = std::min(asked.span.to_us, found.now.micros())};
    auto rows = context.usage.read(span, asked.after, asked.limit + 1);
    if (!rows) {
      return tl::unexpected(
          ApiError{.status = 500, .code = "unreadable", .message = "usage cannot be read: " + rows.error().message});
    }
    for (UsageRow& row : *rows) views.push_back(view_of(std::move(row)));
  }
  sort_stably(views, &UsageView::key);
  const auto same = std::ranges::unique(views, {}, &UsageView::key);
  views.erase(same.begin(), same.end());
  if (views.size() > asked.limit + 1) views.resize(asked.limit + 1);
  return std::move(views);
}

// ---- what is shown

/// The body with its times, cut where it reaches beyond what was asked for.
std::string usage_object(const ObjectFormat& format, const UsageView& view, const UsageSpan& span) {
  std::string text = view.what ? live::usage_body(format.fleet, {view.key.gpu}, *view.what) : view.body;
  text.pop_back();
  const Instant from(std::max(view.key.from_us, span.from_us));
  const Instant to(std::min(view.to_us, span.to_us));
  return fmt::format(R"({},"from":"{}","to":{},"open":{}}})", text, format.epoch.text(from),
                     view.is_open ? "null" : codec::json_text(format.epoch.text(to)), view.is_open);
}

ApiResult<HttpAnswer> list_usage(const ApiContext& context, const Call& call) {
  const auto asked = parse_usage(context, call.request);
  if (!asked) return tl::unexpected(asked.error());
  auto views = read_usage(context, *asked);
  if (!views) return tl::unexpected(views.error());
  std::string next;
  if (views->size() > asked->limit) {
    views->resize(asked->limit);
    next = page_token(call.request.path, key_text(views->back().key));
  }
  std::vector<std::string> items;
  items.reserve(views->size());
  for (const UsageView& view : *views) items.push_back(usage_object(context.format, view, asked->span));
  return json_response(200, list_object(items, next));
}

}  // namespace

std::vector<Route> usage_routes() {
  return {
      {.method = "GET", .path = "/v1/usage", .answer = list_usage, .takes_query = true},
  };
}

}  // namespace berth::api
