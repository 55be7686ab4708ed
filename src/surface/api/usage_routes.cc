#include "surface/api/usage_routes.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/core/sort_stably.h"
#include "base/json/writer.h"
#include "ledger/usage/part_weight.h"
#include "ledger/weights/weights.h"
#include "live/rows/usage_rows.h"
#include "live/session/session.h"
#include "live/session/usage_text.h"
#include "surface/api/api_context.h"
#include "surface/api/paging.h"
#include "surface/api/time_query.h"

namespace berth::api {
namespace {

/// A whole interval, not yet clipped to the query.
struct UsageView {
  UsageKey key;
  std::int64_t to_us = 0;                              ///< INT64_MAX: it continues
  std::optional<live::OpenUsage> what = std::nullopt;  ///< if it continues
  std::optional<UsageRow> row = std::nullopt;          ///< if it has ended
};

UsageView view_of(UsageRow row) { return {.key = row.key, .to_us = row.to_us, .row = std::move(row)}; }

/// The end of the previous page.
struct PageEnd {
  UsageKey after;
  /// The time when the first page was read, in microseconds of the world. All pages show usage as of then, so that
  /// changes in between cause neither duplicates nor gaps.
  std::int64_t as_of_us = 0;
};

struct AskedUsage {
  UsageSpan span;
  std::optional<PageEnd> last = std::nullopt;  ///< absent: the first page
  std::size_t limit = 0;
};

// ---- tokens of pages

std::string token_text(const PageEnd& end) {
  return fmt::format("{} {} {} {}", end.after.gpu, end.after.start, end.after.from_us, end.as_of_us);
}

/// Consumes the next number of a text and the space after it.
template <class Number>
Number take_number(std::string_view& text) {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  text.remove_prefix(std::min<std::size_t>(text.size(), static_cast<std::size_t>(end - text.data()) + 1));
  return number;
}

/// The inverse of `token_text`; nothing for any other text: clients can forge tokens, and those of earlier servers had
/// no instant.
std::optional<PageEnd> page_end_of(const std::string& text) {
  std::string_view rest = text;
  PageEnd end;
  end.after.gpu = take_number<std::uint32_t>(rest);
  end.after.start = take_number<std::int32_t>(rest);
  end.after.from_us = take_number<std::int64_t>(rest);
  end.as_of_us = take_number<std::int64_t>(rest);
  return token_text(end) == text ? std::optional(end) : std::nullopt;
}

// ---- the request

ApiResult<AskedUsage> parse_usage(const ApiContext& context, const HttpRequest& request) {
  const auto page = parse_page(request, {"from", "to"});
  if (!page) return tl::unexpected(page.error());
  const auto times = parse_times(context.format.epoch, request);
  if (!times) return tl::unexpected(times.error());
  AskedUsage asked{.span = {}, .limit = page->limit};
  if (times->from) asked.span.from_us = times->from->micros();
  if (times->to) asked.span.to_us = times->to->micros();
  if (!page->after) return asked;
  asked.last = page_end_of(*page->after);
  if (!asked.last) return tl::unexpected(bad_query("continue", "what the last page of this list gave", "another text"));
  return asked;
}

// ---- reading

/// Whether the page may contain the interval with this key and end, as of an instant.
bool is_asked(const AskedUsage& asked, std::int64_t as_of_us, const UsageKey& key, std::int64_t to_us) {
  return key.from_us < std::min(asked.span.to_us, as_of_us) && std::min(to_us, as_of_us) > asked.span.from_us &&
         (!asked.last || key > asked.last->after);
}

/// Usage as of an instant.
struct UsagePage {
  std::int64_t as_of_us = 0;  ///< microseconds of the world
  /// Intervals that end at this time or later were open. On later pages this includes those that ended at the instant
  /// itself: as far as is known, the first page was read before they ended.
  std::int64_t open_us = 0;
  std::vector<UsageView> views;
};

/// Adds the open usage that matches the query: at least one interval more than fits the page, if there are so many.
void add_open_usage(const live::Session& session, const AskedUsage& asked, UsagePage& found) {
  const auto& open = session.usage().open();
  for (std::uint32_t gpu = asked.last ? asked.last->after.gpu : 0;
       gpu < open.size() && found.views.size() <= asked.limit; ++gpu) {
    for (const live::OpenUsage& what : open[gpu]) {
      const UsageKey key{.gpu = gpu, .start = what.part.start, .from_us = what.from.micros()};
      if (!is_asked(asked, found.as_of_us, key, INT64_MAX)) continue;
      found.views.push_back({.key = key, .to_us = INT64_MAX, .what = what});
    }
  }
}

/// The usage that is not in the store.
UsagePage usage_in_memory(const ApiContext& context, const live::Session& session, const AskedUsage& asked) {
  const std::int64_t now_us = session.now().micros();
  UsagePage found{.as_of_us = now_us, .open_us = now_us + 1, .views = {}};
  if (asked.last && asked.last->as_of_us <= now_us) found.open_us = found.as_of_us = asked.last->as_of_us;
  add_open_usage(session, asked, found);
  if (!context.usage.unrecorded) return found;
  for (UsageRow& row : context.usage.unrecorded()) {
    if (is_asked(asked, found.as_of_us, row.key, row.to_us)) found.views.push_back(view_of(std::move(row)));
  }
  return found;
}

/// At most one interval more than fits the page, by key. An interval that was open at the page's instant may have ended
/// and been stored since; intervals that began later are left out.
ApiResult<UsagePage> read_usage(const ApiContext& context, const AskedUsage& asked) {
  UsagePage found =
      context.session.with([&](const live::Session& session) { return usage_in_memory(context, session, asked); });
  std::vector<UsageView>& views = found.views;
  const UsageSpan span{.from_us = asked.span.from_us, .to_us = std::min(asked.span.to_us, found.as_of_us)};
  if (context.usage.read && span.from_us < span.to_us) {
    const auto after = asked.last ? std::optional(asked.last->after) : std::nullopt;
    auto rows = context.usage.read(span, after, asked.limit + 1);
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
  return found;
}

// ---- the answer

/// The interval, as far as this version can read it.
std::optional<live::UsageInterval> interval_of(const ObjectFormat& format, const UsageView& view) {
  if (view.what) return live::UsageInterval{.gpu = {view.key.gpu}, .what = *view.what, .to = Instant::never()};
  auto interval = journal::interval_of(*view.row, format.fleet);
  return interval ? std::optional(*std::move(interval)) : std::nullopt;
}

/// Whether it was observed, and its weight on the bill.
void put_bill(json::Writer& json, const ObjectFormat& format, const std::optional<live::UsageInterval>& interval) {
  if (!interval || interval->is_observed) json.member("observed", true);  // else the body has it
  const auto weight = [&] { return ledger::billed_weight(format.fleet.model_of(interval->gpu), interval->what.part); };
  json.member("weight", interval ? weight() : std::nullopt);
  const auto capacity = [&] { return ledger::capacity_of(format.fleet.model_of(interval->gpu)); };
  json.member("capacity", interval ? std::optional(capacity()) : std::nullopt);
}

/// The body with its weight and times, clipped to the span of the query; open if it was open at the page's instant and
/// the span ends later than that.
std::string usage_object(const ObjectFormat& format, const UsagePage& page, const UsageView& view,
                         const UsageSpan& span) {
  const std::optional<live::UsageInterval> interval = interval_of(format, view);
  std::string text = view.row ? view.row->body : live::usage_body(format.fleet, *interval);
  text.pop_back();  // the brace
  const Instant from(std::max(view.key.from_us, span.from_us));
  const Instant to(std::min(view.to_us, span.to_us));
  const bool is_open = view.to_us >= page.open_us && page.as_of_us < span.to_us;
  json::Writer json;
  put_bill(json.open_object(), format, interval);
  json.member("from", format.epoch.text(from));
  json.member("to", is_open ? std::nullopt : std::optional(format.epoch.text(to))).member("open", is_open);
  return text + "," + json.close_object().take().substr(1);
}

ApiResult<HttpAnswer> list_usage(const ApiContext& context, const Call& call) {
  const auto asked = parse_usage(context, call.request);
  if (!asked) return tl::unexpected(asked.error());
  auto page = read_usage(context, *asked);
  if (!page) return tl::unexpected(page.error());
  std::string next;
  if (page->views.size() > asked->limit) {
    page->views.resize(asked->limit);
    next = page_token(call.request.path, token_text({.after = page->views.back().key, .as_of_us = page->as_of_us}));
  }
  std::vector<std::string> items;
  items.reserve(page->views.size());
  for (const UsageView& view : page->views) {
    items.push_back(usage_object(context.format, *page, view, asked->span));
  }
  return json_response(200, list_object(items, next));
}

}  // namespace

std::vector<Route> usage_routes() {
  return {
      {.method = "GET", .path = "/v1/usage", .answer = list_usage, .takes_query = true},
  };
}

}  // namespace berth::api
