/// A policy's forecasts and decisions, as the page's data.
#pragma once

#include "domain/values/scenario.h"
#include "sim/measure/result.h"
#include "surface/pages/page_json.h"

namespace berth::report {

/// Writes {"share", "leads": [{"seconds", "services": [{"low", "median", "high", "inside", "wape"}]}]}, the first
/// kReportServicesMax services; null if the policy makes no forecasts.
void write_forecast(json::Writer& json, const measure::Insight& insight);

/// Writes {"count", "shown": [[gpu, at_s, text, [[name, number], ..], [step, ..]], ..]}, in order of time: those on the
/// first kReportGpusMax GPUs, at most kReportDecisionsMax of them; "count" is of all GPUs. A step is [verb, profile,
/// start, [service, ..], how]: verb "destroy", "create" (with services: also assigned to them) or "assign"; how: "" or
/// such as "retraining", "variant 1, batch 8 x 2".
void write_decisions(json::Writer& json, const Scenario& scenario, const measure::Insight& insight);

}  // namespace berth::report
