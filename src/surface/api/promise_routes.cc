#include "surface/api/promise_routes.h"

#include <optional>
#include <string>
#include <utility>

#include "base/json/writer.h"
#include "live/session/object_names.h"
#include "live/session/promise_book.h"
#include "live/session/session.h"
#include "surface/api/api_context.h"
#include "surface/api/paging.h"

namespace berth::api {
namespace {

using json::Writer;

struct PromiseView {
  live::JudgedPromise what;
  bool is_open = false;  ///< its window is not over
};

/// A page of changes, and sums over the last hour, the last day and the changes that count.
struct PromisesView {
  Page<PromiseView> page;
  live::PromiseSums hour;
  live::PromiseSums day;
  live::PromiseSums counted;
};

/// Newest first.
PromiseView view_at(const live::PromiseBook& book, std::size_t index) {
  const auto& open = book.open();
  if (index >= open.size()) return {.what = book.judged()[book.judged().size() - 1 - (index - open.size())]};
  const live::OpenPromise& promise = open[open.size() - 1 - index];
  return {.what = {.plan = promise.plan,
                   .gpu = promise.promise.gpu,
                   .began = promise.began,
                   .judged_at = {},
                   .promised = promise.promise.gain,
                   .void_because = promise.void_because},
          .is_open = true};
}

std::string key_of(const live::JudgedPromise& promise) {
  return number_key(UINT64_MAX - static_cast<std::uint64_t>(promise.began.micros())) +
         number_key(UINT64_MAX - promise.plan) + number_key(UINT64_MAX - promise.gpu.index);
}

ApiResult<PromisesView> read_promises(const live::Session& session, const HttpRequest& request) {
  const live::PromiseBook& book = session.promises();
  const ListKeys keys{.count = book.open().size() + book.judged().size(),
                      .key = [&](std::size_t i) { return key_of(view_at(book, i).what); }};
  auto page = read_page(request, keys, [&](std::size_t i) { return view_at(book, i); });
  if (!page) return tl::unexpected(page.error());
  return PromisesView{.page = std::move(*page),
                      .hour = book.sums(session.now(), Micros::seconds(3'600)),
                      .day = book.sums(session.now(), Micros::seconds(86'400)),
                      .counted = book.counted(session.now())};
}

/// Null if nothing was promised.
std::optional<double> share_of(double part, double promised) {
  return promised > 0 ? std::optional(part / promised) : std::nullopt;
}

void put_sums(Writer& json, const live::PromiseSums& sums) {
  json.member("changes", sums.changes).member("promised", sums.promised).member("achieved", sums.achieved);
  json.member("share", share_of(sums.achieved, sums.promised)).member("cuts", sums.cuts);
  json.member("cuts_promised", sums.cuts_promised).member("lost_to_delay", sums.lost_to_delay);
  json.member("lost_share", share_of(sums.lost_to_delay, sums.cuts_promised));
}

std::string promise_json(const ObjectFormat& format, const PromiseView& view) {
  const live::JudgedPromise& promise = view.what;
  const bool is_void = !promise.void_because.empty();
  const bool is_judged = !view.is_open && !is_void;
  const char* state = is_void ? "void" : (view.is_open ? "open" : "judged");
  Writer json;
  json.open_object().member("plan", live::plan_name(promise.plan)).member("gpu", live::gpu_name(promise.gpu));
  json.member("state", state).member("reason", is_void ? std::optional(promise.void_because) : std::nullopt);
  json.member("began_at", format.epoch.text(promise.began));
  json.member("judged_at", view.is_open ? std::nullopt : std::optional(format.epoch.text(promise.judged_at)));
  json.member("cuts", view.is_open ? std::nullopt : std::optional(promise.is_cut));
  json.member("promised", promise.promised);
  json.member("achieved", is_judged ? std::optional(promise.achieved) : std::nullopt);
  json.member("on_time", is_judged ? std::optional(promise.on_time) : std::nullopt);
  return json.close_object().take();
}

/// The list, with the sums next to its items.
ApiResult<HttpAnswer> list_promises(const ApiContext& context, const Call& call) {
  const auto view = context.session.with(
      [&](const live::Session& session) -> ApiResult<PromisesView> { return read_promises(session, call.request); });
  if (!view) return tl::unexpected(view.error());
  std::vector<std::string> items;
  items.reserve(view->page.items.size());
  for (const PromiseView& item : view->page.items) items.push_back(promise_json(context.format, item));
  Writer json;
  put_list(json.open_object(), items, view->page.next);
  put_sums(json.open_object("last_hour"), view->hour);
  put_sums(json.close_object().open_object("last_day"), view->day);
  put_sums(json.close_object().open_object("counted"), view->counted);
  json.member("changes_min", live::kPromisedChangesMin).member("share_min", live::kPromiseShareMin);
  json.member("cuts_min", live::kPromisedCutsMin).member("lost_share_max", live::kLostToDelayMax).close_object();
  return json_response(200, json.close_object().take());
}

}  // namespace

std::vector<Route> promise_routes() {
  return {{.method = "GET", .path = "/v1/promises", .answer = list_promises, .takes_query = true}};
}

}  // namespace berth::api
