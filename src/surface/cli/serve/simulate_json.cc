#include "surface/cli/serve/simulate_json.h"

#include <variant>

#include "base/core/overloaded.h"
#include "base/json/writer.h"
#include "serving/simulation/policy_name.h"

namespace berth::cli {
namespace {

using serving::RunFigures;
using serving::ServingFigures;

/// Tenants have no batches: one batch may serve several.
enum class BatchCount { kShown, kNone };

void write_members(json::Writer& out, const ServingFigures& figures, BatchCount batches) {
  const auto micros = [](Micros time) { return time.count(); };
  out.member("requests", figures.requests)
      .member("in_time", figures.in_time)
      .member("late", figures.late)
      .member("dropped", figures.dropped)
      .member("latency_p50_us", figures.latency_p50 ? std::optional(micros(*figures.latency_p50)) : std::nullopt)
      .member("latency_p99_us", figures.latency_p99 ? std::optional(micros(*figures.latency_p99)) : std::nullopt);
  if (batches == BatchCount::kShown) out.member("batches", figures.batches);
  out.member("busy_us", figures.busy.count());
}

void write_named(json::Writer& out, std::string_view key, const std::vector<std::string>& names,
                 const std::vector<ServingFigures>& figures, BatchCount batches) {
  out.open_list(key);
  for (std::size_t i = 0; i < names.size(); ++i) {
    out.open_object().member("name", names[i]);
    write_members(out, figures[i], batches);
    out.close_object();
  }
  out.close_list();
}

void write_policy_figures(json::Writer& out, const PolicyOutcome& policy, const serving::ServingCase& serving_case) {
  const RunFigures& figures = policy.figures;
  out.open_object()
      .member("policy", serving::name_of(policy.policy))
      .member("evict", serving::name_of(policy.eviction))
      .open_object("total");
  write_members(out, figures.total, BatchCount::kShown);
  out.member("end_us", figures.end.micros())
      .member("loads", figures.loads)
      .member("load_us", figures.load_time.count())
      .member("evictions", figures.evictions);
  if (policy.eviction == serving::EvictionRule::kWarm) {
    out.member("preloads", figures.preloads)
        .member("preload_hits", figures.preload_hits)
        .member("load_waits", figures.load_waits);
  }
  out.close_object();
  write_named(out, "models", serving_case.recorded.models, figures.models, BatchCount::kShown);
  write_named(out, "tenants", serving_case.recorded.tenants, figures.tenants, BatchCount::kNone);
  out.close_object();
}

}  // namespace

std::string simulate_json(const serving::ServingCase& serving_case, const std::vector<PolicyOutcome>& policies) {
  json::Writer out;
  out.open_object().member("berth", 1).member("device", serving_case.device.name).open_list("policies");
  for (const PolicyOutcome& policy : policies) write_policy_figures(out, policy, serving_case);
  out.close_list().close_object();
  return out.take_line();
}

std::string simulate_log_line(const serving::RunEvent& event, const serving::ServingCase& serving_case) {
  json::Writer out;
  const auto& names = serving_case.recorded.models;
  const auto name_of = [&](serving::ModelIndex model) { return names[static_cast<std::size_t>(model)]; };
  out.open_object().member("at_us", event.at.micros());
  const auto write_end = [&] { out.member("end_us", event.end.micros()); };
  std::visit(
      Overloaded{
          [&](const serving::StartBatch& batch) {
            out.member("kind", "batch").member("lane", static_cast<int>(batch.lane));
            out.member("model", name_of(batch.model)).open_list("requests");
            for (const serving::Request& request : batch.requests) out.value(request.number);
            out.close_list();
            write_end();
          },
          [&](const serving::StartLoad& load) {
            out.member("kind", "load").member("model", name_of(load.model));
            write_end();
            if (load.is_preload) out.member("preload", true);
          },
          [&](const serving::Evict& evict) { out.member("kind", "evict").member("model", name_of(evict.model)); },
          [&](const serving::Reject& reject) { out.member("kind", "reject").member("request", reject.request.number); },
          [&](const serving::Drop& drop) { out.member("kind", "drop").member("request", drop.request.number); }},
      event.order);
  out.close_object();
  return out.take_line();
}

}  // namespace berth::cli
