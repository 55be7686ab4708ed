#include "surface/api/status.h"

#include <optional>
#include <vector>

#include "base/json/writer.h"
#include "domain/values/no_changes.h"
#include "live/session/live_figures.h"
#include "live/session/session.h"
#include "surface/api/device_json.h"

namespace berth::api {
namespace {

using json::Writer;

std::optional<double> ms_or_null(double ms, bool is_known) { return is_known ? std::optional(ms) : std::nullopt; }

void put_driver(Writer& json, const DriverStatus& driver) {
  const bool has_steps = driver.step_count > 0;
  json.open_object("steps").member("count", driver.step_count);
  json.member("p50_ms", ms_or_null(driver.step_ms_p50, has_steps));
  json.member("p99_ms", ms_or_null(driver.step_ms_p99, has_steps));
  json.member("max_ms", ms_or_null(driver.step_ms_max, has_steps)).close_object();
  json.open_object("solver").member("running", driver.is_solving);
  json.member("last_ms", ms_or_null(driver.last_solve_ms, driver.last_solve_ms > 0)).close_object();
}

void put_funnel(Writer& json, const std::optional<live::FunnelShares>& funnel, bool knows_load) {
  const auto share = [&](double live::FunnelShares::* of, bool is_known) {
    return funnel && is_known ? std::optional((*funnel).*of) : std::nullopt;
  };
  json.open_object("funnel").member("allocated", share(&live::FunnelShares::allocated, true));
  json.member("busy", share(&live::FunnelShares::busy, knows_load));
  json.member("effective", share(&live::FunnelShares::effective, knows_load)).close_object();
}

}  // namespace

StatusView view_status(const live::Session& session) {
  const std::vector<WeekSpan>& spans = session.scenario().no_changes.spans;
  return {.now = session.now(),
          .pause = session.snapshot().pause,
          .funnel = session.figures().funnel(),
          .goodput = session.figures().goodput(),
          .in_time = live::count_in_time(session),
          .no_changes = spans.empty() ? std::string() : words_of(spans)};
}

std::string status_object(const ApiContext& context, const StatusView& view) {
  const DriverStatus driver = context.driver_status();
  const live::DeviceSource& devices = context.format.devices;
  Writer json;
  json.open_object().member("world", devices.is_local() ? std::string_view(devices.world) : "simulated");
  json.member("time", context.format.epoch.text(view.now)).key("speed");
  driver.speed > 0 ? json.value(driver.speed) : json.value("max");
  put_load(json, devices);
  json.key("devices");
  if (devices.is_local()) write_devices(json, devices);
  if (!devices.is_local()) json.value(nullptr);
  put_driver(json, driver);
  json.open_object("planning").member("paused", view.pause.has_value());
  json.member("reason", view.pause ? std::optional(view.pause->reason) : std::nullopt).close_object();
  json.member("no_changes", view.no_changes.empty() ? std::nullopt : std::optional(view.no_changes));
  json.member("memory_only", false).member("read_only", driver.store_failure);
  json.member("clock", driver.clock_trouble);
  put_funnel(json, view.funnel, devices.knows_load());
  json.member("goodput", view.goodput);
  json.open_object("services").member("in_time", view.in_time.kept).member("not_in_time", view.in_time.missed);
  json.member("unknown", view.in_time.unknown).close_object();
  json.member("cost_micro_usd_per_hour", live::cost_micro_usd_per_hour(context.format.fleet));
  return json.close_object().take();
}

}  // namespace berth::api
