#include "surface/api/event_routes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/core/text.h"
#include "base/json/writer.h"
#include "live/session/event_log.h"
#include "live/session/session.h"
#include "surface/api/api_context.h"
#include "surface/api/paging.h"

namespace berth::api {
namespace {

constexpr std::size_t kEventsAtOnce = 200;

/// The events of one client.
class EventStream final : public HttpEventSource {
 public:
  /// Continues after the event `after`, or, if events were forgotten since, with the oldest one kept.
  EventStream(const ApiContext& context, std::uint64_t after, bool has_gap)
      : context_(context), after_(after), has_gap_(has_gap) {}

  HttpStreamPiece next() override {
    const Piece piece = context_.session.with(
        [this](const live::Session& session) { return read(session.events(), session.last_safe_event()); });
    std::string text;
    if (piece.gap_until) text += fmt::format("event: gap\ndata: {}\n\n", gap_data(*piece.gap_until));
    for (const live::LoggedEvent& event : piece.events) {
      text += fmt::format("id: {}\nevent: {}\ndata: {}\n\n", event.sequence, live::event_word(event.kind),
                          event_data(context_.format, event));
    }
    return {.text = std::move(text), .is_last = false};
  }

 private:
  struct Piece {
    std::optional<std::uint64_t> gap_until;  ///< events before this one were forgotten
    std::vector<live::LoggedEvent> events;
  };

  static std::string gap_data(std::uint64_t oldest) {
    return json::Writer().open_object().member("oldest", oldest).close_object().take();
  }

  Piece read(const live::EventLog& log, std::uint64_t last_safe) {
    Piece piece;
    if (has_gap_ || after_ + 1 < log.oldest_sequence()) {
      has_gap_ = false;
      after_ = log.oldest_sequence() - 1;
      piece.gap_until = log.oldest_sequence();
    }
    const std::uint64_t count = last_safe > after_ ? last_safe - after_ : 0;
    piece.events = log.after(after_, std::min<std::uint64_t>(kEventsAtOnce, count));
    after_ += piece.events.size();
    return piece;
  }

  const ApiContext& context_;
  std::uint64_t after_;
  bool has_gap_;
};

/// The number in the header Last-Event-ID, if present; UINT64_MAX for one that no event has.
ApiResult<std::optional<std::uint64_t>> last_event_id(const HttpRequest& request) {
  const auto last = find_header(request.headers, "Last-Event-ID");
  if (!last) return std::nullopt;
  const bool has_digits_only =
      !last->empty() && std::ranges::all_of(*last, [](char c) { return c >= '0' && c <= '9'; });
  if (!has_digits_only) {
    return tl::unexpected(ApiError{.status = 400,
                                   .code = "bad_header",
                                   .message = "Last-Event-ID: wanted the id of an event, digits only",
                                   .field = "Last-Event-ID",
                                   .wanted = "digits",
                                   .found = std::string(*last)});
  }
  const auto given = parse_count(*last, INT64_MAX);
  return given ? static_cast<std::uint64_t>(*given) : UINT64_MAX;
}

/// The start of a stream.
struct Beginning {
  std::uint64_t after = 0;
  bool has_gap = false;
};

Beginning beginning_of(const live::Session& session, std::optional<std::uint64_t> last) {
  const live::EventLog& log = session.events();
  if (!last) return {.after = session.last_safe_event()};
  const bool has_gap = *last > session.last_safe_event() || *last + 1 < log.oldest_sequence();
  return {.after = has_gap ? log.oldest_sequence() - 1 : *last, .has_gap = has_gap};
}

/// `after` of a query, 0 unless given: the sequence number of an event.
ApiResult<std::uint64_t> after_of(const HttpRequest& request) {
  const auto field = std::ranges::find(request.query, "after", &HttpField::name);
  if (field == request.query.end()) return 0;
  const auto number = parse_count(field->value, INT64_MAX);
  if (!number) return tl::unexpected(bad_query("after", "the sequence number of an event", field->value));
  return static_cast<std::uint64_t>(*number);
}

/// A page of the kept events after `after`, oldest first.
ApiResult<HttpAnswer> list_events(const ApiContext& context, const Call& call) {
  const auto asked = parse_page(call.request, {"after"});
  if (!asked) return tl::unexpected(asked.error());
  auto after = after_of(call.request);
  if (!after) return tl::unexpected(after.error());
  // The key of a page is that of its last event.
  if (asked->after) {
    const auto key = parse_count(*asked->after, INT64_MAX);
    if (!key) return tl::unexpected(bad_query("continue", "what the last page of this list gave", *asked->after));
    *after = std::max(*after, static_cast<std::uint64_t>(*key));
  }
  std::uint64_t last = 0;
  const std::vector<live::LoggedEvent> events = context.session.with([&](const live::Session& session) {
    const live::EventLog& log = session.events();
    last = session.last_safe_event();
    const std::uint64_t begin = std::max(std::min(*after, last), log.oldest_sequence() - 1);
    const std::uint64_t count = last > begin ? last - begin : 0;
    return log.after(begin, std::min<std::uint64_t>(asked->limit, count));
  });
  std::vector<std::string> items;
  items.reserve(events.size());
  for (const live::LoggedEvent& event : events) items.push_back(event_data(context.format, event));
  const bool is_last = events.empty() || events.back().sequence >= last;
  const std::string next = is_last ? "" : page_token(call.request.path, fmt::format("{}", events.back().sequence));
  return json_response(200, list_object(items, next));
}

/// The stream; with a query a list.
ApiResult<HttpAnswer> get_events(const ApiContext& context, const Call& call) {
  if (!call.request.query.empty()) return list_events(context, call);
  const auto last = last_event_id(call.request);
  if (!last) return tl::unexpected(last.error());
  const Beginning beginning =
      context.session.with([&](const live::Session& session) { return beginning_of(session, *last); });
  return HttpEventStream{.headers = {{"X-Request-Id", call.request_id}},
                         .source = std::make_unique<EventStream>(context, beginning.after, beginning.has_gap)};
}

}  // namespace

std::vector<Route> event_routes() {
  return {
      {.method = "GET", .path = "/v1/events", .answer = get_events, .takes_query = true},
  };
}

}  // namespace berth::api
