#include "surface/api/status.h"

#include <nlohmann/json.hpp>
#include <vector>

#include "base/json/text.h"
#include "domain/values/no_changes.h"
#include "live/session/live_figures.h"
#include "live/session/session.h"
#include "surface/api/device_json.h"

namespace berth::api {
namespace {

using Json = nlohmann::ordered_json;

Json ms_or_null(double ms, bool is_known) { return is_known ? Json(ms) : Json(nullptr); }

}  // namespace

StatusView view_status(const live::Session& session) {
  const std::vector<WeekSpan>& spans = session.scenario().no_changes.spans;
  return {.now = session.now(),
          .pause = session.snapshot().pause,
          .funnel = session.figures().funnel(),
          .goodput = session.figures().goodput(),
          .no_changes = spans.empty() ? std::string() : words_of(spans)};
}

std::string status_object(const ApiContext& context, const StatusView& view) {
  const DriverStatus driver = context.driver_status();
  const bool has_steps = driver.step_count > 0;
  Json status{{"world", context.format.devices.is_local() ? "local" : "simulated"},
              {"time", context.format.epoch.text(view.now)}};
  status["speed"] = driver.speed > 0 ? Json(driver.speed) : Json("max");
  status["load"] = load_json(context.format.devices);
  status["devices"] =
      context.format.devices.is_local() ? library_json(context.format.devices.library()) : Json(nullptr);
  status["steps"] = {{"count", driver.step_count},
                     {"p50_ms", ms_or_null(driver.step_ms_p50, has_steps)},
                     {"p99_ms", ms_or_null(driver.step_ms_p99, has_steps)},
                     {"max_ms", ms_or_null(driver.step_ms_max, has_steps)}};
  status["solver"] = {{"running", driver.is_solving},
                      {"last_ms", ms_or_null(driver.last_solve_ms, driver.last_solve_ms > 0)}};
  status["planning"] = {{"paused", view.pause.has_value()},
                        {"reason", view.pause ? Json(view.pause->reason) : Json(nullptr)}};
  status["no_changes"] = view.no_changes.empty() ? Json(nullptr) : Json(view.no_changes);
  status["memory_only"] = false;
  status["read_only"] = json::or_null(driver.store_failure);
  const auto share = [&](double live::FunnelShares::* of, bool is_known) {
    return view.funnel && is_known ? Json((*view.funnel).*of) : Json(nullptr);
  };
  const bool knows_load = context.format.devices.knows_load();
  status["funnel"] = {{"allocated", share(&live::FunnelShares::allocated, true)},
                      {"busy", share(&live::FunnelShares::busy, knows_load)},
                      {"effective", share(&live::FunnelShares::effective, knows_load)}};
  status["goodput"] = json::or_null(view.goodput);
  status["cost_micro_usd_per_hour"] = json::or_null(live::cost_micro_usd_per_hour(context.format.fleet));
  return json::json_text(status);
}

}  // namespace berth::api
