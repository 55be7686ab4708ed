#include "surface/api/promise_routes.h"

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "base/json/text.h"
#include "live/session/object_names.h"
#include "live/session/promise_book.h"
#include "live/session/session.h"
#include "surface/api/api_context.h"
#include "surface/api/paging.h"

namespace berth::api {
namespace {

using Json = nlohmann::ordered_json;

struct PromiseView {
  live::JudgedPromise what;
  bool is_open = false;  ///< its window is not over
};

/// A page of changes, and sums over more than it.
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

/// Null where nothing was promised.
Json share_json(double part, double promised) { return promised > 0 ? Json(part / promised) : Json(nullptr); }

Json sums_json(const live::PromiseSums& sums) {
  return {{"changes", sums.changes},
          {"promised", sums.promised},
          {"achieved", sums.achieved},
          {"share", share_json(sums.achieved, sums.promised)},
          {"cuts", sums.cuts},
          {"cuts_promised", sums.cuts_promised},
          {"lost_to_delay", sums.lost_to_delay},
          {"lost_share", share_json(sums.lost_to_delay, sums.cuts_promised)}};
}

std::string promise_json(const ObjectFormat& format, const PromiseView& view) {
  const live::JudgedPromise& promise = view.what;
  const bool is_void = !promise.void_because.empty();
  const bool is_judged = !view.is_open && !is_void;
  const char* state = is_void ? "void" : (view.is_open ? "open" : "judged");
  const Json json{{"plan", live::plan_name(promise.plan)},
                  {"gpu", live::gpu_name(promise.gpu)},
                  {"state", state},
                  {"reason", is_void ? Json(promise.void_because) : Json(nullptr)},
                  {"began_at", format.epoch.text(promise.began)},
                  {"judged_at", view.is_open ? Json(nullptr) : Json(format.epoch.text(promise.judged_at))},
                  {"cuts", view.is_open ? Json(nullptr) : Json(promise.is_cut)},
                  {"promised", promise.promised},
                  {"achieved", is_judged ? Json(promise.achieved) : Json(nullptr)},
                  {"on_time", is_judged ? Json(promise.on_time) : Json(nullptr)}};
  return json::json_text(json);
}

/// The list, with the sums beside its items.
ApiResult<HttpAnswer> list_promises(const ApiContext& context, const Call& call) {
  const auto view = context.session.with(
      [&](const live::Session& session) -> ApiResult<PromisesView> { return read_promises(session, call.request); });
  if (!view) return tl::unexpected(view.error());
  std::vector<std::string> items;
  items.reserve(view->page.items.size());
  for (const PromiseView& item : view->page.items) items.push_back(promise_json(context.format, item));
  Json counted = sums_json(view->counted);
  counted["changes_min"] = live::kPromisedChangesMin;
  counted["share_min"] = live::kPromiseShareMin;
  counted["cuts_min"] = live::kPromisedCutsMin;
  counted["lost_share_max"] = live::kLostToDelayMax;
  const Json sums{
      {"last_hour", sums_json(view->hour)}, {"last_day", sums_json(view->day)}, {"counted", std::move(counted)}};
  std::string list = list_object(items, view->page.next);
  list.pop_back();  // the brace
  return json_response(200, list + "," + json::json_text(sums).substr(1));
}

}  // namespace

std::vector<Route> promise_routes() {
  return {{.method = "GET", .path = "/v1/promises", .answer = list_promises, .takes_query = true}};
}

}  // namespace berth::api
