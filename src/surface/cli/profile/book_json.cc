#include "surface/cli/profile/book_json.h"

#include <optional>
#include <string>

#include "domain/profile_book/point_text.h"

namespace berth::cli {
namespace {

using profile_book::ModelInForce;
using profile_book::PlaceInForce;
using profile_book::PointInForce;

std::optional<std::string> if_known(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional(text);
}

json::Value measured_json(const ProfilePoint& point) {
  if (!point.rate_text.empty()) {
    return json::Value::Object{
        {"requests_per_second", json::Value::Number{Decimal::parse(point.rate_text)->to_string()}},
        {"latency_ms", json::Value::Number{Decimal::parse(point.latency_text)->to_string()}},
        {"imported", true}};
  }
  return json::Value::Object{{"rows_per_second", point.rows_per_second},
                             {"mean_us", point.mean_us},
                             {"mean_us_low", point.mean_us_low},
                             {"mean_us_high", point.mean_us_high},
                             {"p50_us", point.p50_us},
                             {"p99_us", point.p99_us},
                             {"batches", point.batches},
                             {"is_short", point.is_short},
                             {"imported", false}};
}

json::Value observed_json(const profile_book::ObservedMean& observed) {
  return json::Value::Object{{"count", observed.count}, {"mean_us", observed.mean_us}, {"half_us", observed.half_us}};
}

json::Value point_json(const PointInForce& point) {
  json::Value::Object object{{"batch", point.measured.batch}, {"processes", point.measured.processes}};
  const bool has_figures = profile_book::has_figures(point);
  const bool is_measured = point.run != 0;
  object.emplace_back("fits", is_measured ? json::Value(point.measured.fits) : json::Value());
  object.emplace_back("run", is_measured ? json::Value(point.run) : json::Value());
  object.emplace_back("measured", is_measured && point.measured.fits ? measured_json(point.measured) : json::Value());
  object.emplace_back("observed", point.observed ? observed_json(*point.observed) : json::Value());
  object.emplace_back("memory_bytes", point.measured.memory_bytes);
  object.emplace_back("is_replaced", point.is_replaced());
  object.emplace_back("drift", point.is_drift());
  object.emplace_back("latency_ms",
                      has_figures
                          ? json::Value::Number{Decimal::parse(profile_book::figures_of(point).latency_ms)->to_string()}
                          : json::Value());
  return object;
}

json::Value machine_json(const ProfilingMachine& machine) {
  return json::Value::Object{
      {"device", machine.device},
      {"processor", if_known(machine.processor)},
      {"flags", if_known(machine.flags)},
      {"memory_bytes", machine.memory_bytes == 0 ? json::Value() : json::Value(machine.memory_bytes)},
      {"driver", if_known(machine.driver)},
      {"engine", if_known(machine.engine)},
      {"threads", machine.threads}};
}

json::Value place_json(const PlaceInForce& place) {
  json::Value::List points;
  for (const PointInForce& point : place.points) points.push_back(point_json(point));
  return json::Value::Object{{"label", if_known(place.label)},
                             {"machine", machine_json(place.machine)},
                             {"run", place.run == 0 ? json::Value() : json::Value(place.run)},
                             {"memory_at_load_bytes", place.memory_at_load_bytes},
                             {"points", std::move(points)}};
}

}  // namespace

json::Value model_json(const ModelInForce& model) {
  json::Value::List places;
  for (const PlaceInForce& place : model.places) places.push_back(place_json(place));
  return json::Value::Object{
      {"name", model.name},
      {"sha256", if_known(model.model.sha256)},
      {"url", if_known(model.model.url)},
      {"file_bytes", model.model.file_bytes == 0 ? json::Value() : json::Value(model.model.file_bytes)},
      {"flops", model.model.flops},
      {"activation_bytes", model.model.activation_bytes},
      {"parameters", model.model.parameters},
      {"weight_bytes", model.model.weight_bytes},
      {"batches_of_other_content", model.batches_of_other_content},
      {"places", std::move(places)}};
}

json::Value run_json(const ProfileRun& run) {
  json::Value::List points;
  for (const ProfilePoint& point : run.points) {
    points.push_back(json::Value::Object{{"batch", point.batch},
                                         {"processes", point.processes},
                                         {"fits", point.fits},
                                         {"measured", point.fits ? measured_json(point) : json::Value()},
                                         {"memory_bytes", point.memory_bytes}});
  }
  return json::Value::Object{{"run", run.id},
                             {"started_us", run.started_us},
                             {"berth_version", run.berth_version},
                             {"label", if_known(run.label)},
                             {"sha256", if_known(run.model.sha256)},
                             {"url", if_known(run.model.url)},
                             {"machine", machine_json(run.machine)},
                             {"memory_at_load_bytes", run.memory_at_load_bytes},
                             {"fixed_batch", run.fixed_batch == 0 ? json::Value() : json::Value(run.fixed_batch)},
                             {"points", std::move(points)}};
}

}  // namespace berth::cli
