#include "surface/up_metrics/metric_table.h"

#include <algorithm>
#include <string>
#include <variant>

#include "base/core/ensure.h"

namespace berth::metrics {
namespace {

using enum MetricArea;
using enum MetricKind;

constexpr std::array<MetricRow, kMetricCount> kTable = {{
    {.metric = Metric::kGpus,
     .area = kFleet,
     .name = "berth_gpus",
     .kind = kGauge,
     .labels = {"model", "health", "scheduling"},
     .help = "GPUs of the fleet, by health (ok, lost) and scheduling (open, cordoned, draining)",
     .missing = ""},
    {.metric = Metric::kSlices,
     .area = kFleet,
     .name = "berth_slices",
     .kind = kGauge,
     .labels = {"model", "profile", "state"},
     .help = "Slices, by the state that /v1/slices shows",
     .missing = "there is no such slice"},
    {.metric = Metric::kSmSeconds,
     .area = kFleet,
     .name = "berth_sm_seconds_total",
     .kind = kCounter,
     .labels = {"stage"},
     .help =
         "SM-time, in seconds of the world: of all GPUs (available), of slices with an owner (allocated), of slices "
         "that ran something (busy), and what the answers would have cost at the best points (effective)",
     .missing = "busy, effective: the load is unknown"},
    {.metric = Metric::kGpuSeconds,
     .area = kFleet,
     .name = "berth_gpu_seconds_total",
     .kind = kCounter,
     .labels = {"state"},
     .help =
         "GPU-time by its use (held, changing, free, lost, foreign), in seconds of the world; a part of a GPU counts "
         "with its share of the units",
     .missing = ""},
    {.metric = Metric::kCost,
     .area = kFleet,
     .name = "berth_cost_usd_per_hour",
     .kind = kGauge,
     .labels = {"tenant", "role"},
     .is_summed = true,
     .help = "What the fleet costs now, divided as a ledger divides it; without a tenant it is unowned",
     .missing = "the fleet has GPUs without a price"},
    {.metric = Metric::kServiceRequests,
     .area = kService,
     .name = "berth_service_requests_total",
     .kind = kCounter,
     .labels = {"tenant", "service"},
     .is_summed = true,
     .help = "Requests that arrived",
     .missing = "the load is unknown"},
    {.metric = Metric::kServiceAnswers,
     .area = kService,
     .name = "berth_service_answers_total",
     .kind = kCounter,
     .labels = {"tenant", "service", "outcome"},
     .is_summed = true,
     .help =
         "Requests that ended: answered within the latency target (in_time), after it (late), or discarded (dropped)",
     .missing = "the load is unknown"},
    {.metric = Metric::kServiceAccuracy,
     .area = kService,
     .name = "berth_service_accuracy_total",
     .kind = kCounter,
     .labels = {"tenant", "service"},
     .is_summed = true,
     .help = "Accuracies of the answers in time, summed",
     .missing = "the load is unknown"},
    {.metric = Metric::kServiceBatches,
     .area = kService,
     .name = "berth_service_batches_total",
     .kind = kCounter,
     .labels = {"tenant", "service"},
     .is_summed = true,
     .help = "Batches that began",
     .missing = "the load is unknown, or the world serves by rates"},
    {.metric = Metric::kServiceLatency,
     .area = kService,
     .name = "berth_service_latency_seconds",
     .kind = kHistogram,
     .labels = {"tenant", "service"},
     .is_summed = true,
     .help = "Latencies of answers, each within 0.4 %",
     .missing = "the load is unknown"},
    {.metric = Metric::kServiceQueue,
     .area = kService,
     .name = "berth_service_queue_requests",
     .kind = kGauge,
     .labels = {"tenant", "service"},
     .is_summed = true,
     .help = "Requests that waited at the end of the second before berth_world_second",
     .missing = "that second was not measured"},
    {.metric = Metric::kServiceCapacity,
     .area = kService,
     .name = "berth_service_capacity_requests_per_second",
     .kind = kGauge,
     .labels = {"tenant", "service"},
     .is_summed = true,
     .help = "Requests per second that the slices that serve it now can answer",
     .missing = "the service is gone"},
    {.metric = Metric::kServiceObjective,
     .area = kService,
     .name = "berth_service_objective_ratio",
     .kind = kGauge,
     .labels = {"tenant", "service"},
     .help = "The share of requests in time that was agreed on: slo.attainment",
     .missing = "the service has no slo.attainment"},
    {.metric = Metric::kServiceWaiting,
     .area = kService,
     .name = "berth_service_waiting",
     .kind = kGauge,
     .labels = {"tenant", "service", "reason"},
     .help = "1: the service has no slice; the reason is that of its condition Placed",
     .missing = "it has a slice"},
    {.metric = Metric::kServiceSpeedFactor,
     .area = kService,
     .name = "berth_service_speed_factor",
     .kind = kGauge,
     .labels = {"tenant", "service", "model", "profile"},
     .help = "The recorded factor of the times in its table, as batches were measured (calibration.md)",
     .missing = "none is recorded"},
    {.metric = Metric::kForecastJudged,
     .area = kService,
     .name = "berth_forecast_judged_total",
     .kind = kCounter,
     .labels = {"tenant", "service"},
     .is_summed = true,
     .help = "Forecasts of a second whose requests are known",
     .missing = "none was judged since the process began"},
    {.metric = Metric::kForecastInside,
     .area = kService,
     .name = "berth_forecast_inside_total",
     .kind = kCounter,
     .labels = {"tenant", "service", "band"},
     .is_summed = true,
     .help = "Those of them whose band (0.8, 0.95) had the requests in it; a count that a band cuts counts in part",
     .missing = "none was judged since the process began"},
    {.metric = Metric::kPlans,
     .area = kPlanner,
     .name = "berth_plans_total",
     .kind = kCounter,
     .labels = {"phase"},
     .help =
         "Plans with actions that reached the phase (awaiting_approval, acting, done, expired, refused, superseded)",
     .missing = ""},
    {.metric = Metric::kPlanSolve,
     .area = kPlanner,
     .name = "berth_plan_solve_seconds",
     .kind = kHistogram,
     .labels = {},
     .help = "How long the solver took for its answers",
     .missing = ""},
    {.metric = Metric::kPlanGap,
     .area = kPlanner,
     .name = "berth_plan_gap_ratio",
     .kind = kGauge,
     .labels = {},
     .help = "How far the latest plan with actions is below its proven bound, at most, as a share of the bound",
     .missing = "there is no such plan, or no bound"},
    {.metric = Metric::kPlanAge,
     .area = kPlanner,
     .name = "berth_plan_age_seconds",
     .kind = kGauge,
     .labels = {},
     .help = "Seconds of the world since the state for which the latest plan was made, also one that changes nothing",
     .missing = "there are no services, no plan was made yet, or the policy makes no new plans"},
    {.metric = Metric::kPlanActions,
     .area = kPlanner,
     .name = "berth_plan_actions_total",
     .kind = kCounter,
     .labels = {"kind", "outcome"},
     .help = "Actions of plans (create, destroy, assign) that ended (done, failed, dropped)",
     .missing = ""},
    {.metric = Metric::kPlanGain,
     .area = kPlanner,
     .name = "berth_plan_gain",
     .kind = kGauge,
     .labels = {"of"},
     .help = "What the changes judged in the last day of the world promised and achieved, in the unit of the objective",
     .missing = ""},
    {.metric = Metric::kPlanningPaused,
     .area = kPlanner,
     .name = "berth_planning_paused",
     .kind = kGauge,
     .labels = {"reason"},
     .help = "1: planning is paused, by the operator or because promises failed (promises_failed)",
     .missing = ""},
    {.metric = Metric::kWorldSecond,
     .area = kProcess,
     .name = "berth_world_second",
     .kind = kGauge,
     .labels = {},
     .help = "The second of the world; counters of services and of the fleet cover the seconds before it",
     .missing = ""},
    {.metric = Metric::kStep,
     .area = kProcess,
     .name = "berth_step_seconds",
     .kind = kHistogram,
     .labels = {},
     .help = "How long steps of the engine took, with their waits for the lock",
     .missing = ""},
    {.metric = Metric::kJournalCommit,
     .area = kProcess,
     .name = "berth_journal_commit_seconds",
     .kind = kHistogram,
     .labels = {},
     .help = "How long commits of the journal took, those that failed too",
     .missing = ""},
    {.metric = Metric::kReadOnly,
     .area = kProcess,
     .name = "berth_read_only",
     .kind = kGauge,
     .labels = {},
     .help = "1: nothing can be recorded, and writes are refused",
     .missing = ""},
    {.metric = Metric::kHttpRequest,
     .area = kProcess,
     .name = "berth_http_request_seconds",
     .kind = kHistogram,
     .labels = {"method", "route", "code"},
     .help =
         "How long requests took until their answer was given, by the pattern of their route; of streams until they "
         "began",
     .missing = "there was no such request"},
    {.metric = Metric::kOtlpItems,
     .area = kProcess,
     .name = "berth_otlp_items_total",
     .kind = kCounter,
     .labels = {"signal", "outcome"},
     .help = "Spans and data points for a collector (made), and what became of them (sent, refused, dropped)",
     .missing = "nothing is sent to a collector"},
    {.metric = Metric::kBuildInfo,
     .area = kProcess,
     .name = "berth_build_info",
     .kind = kGauge,
     .labels = {"version"},
     .help = "The version of the program; always 1",
     .missing = ""},
    {.metric = Metric::kProcessCpu,
     .area = kProcess,
     .name = "process_cpu_seconds_total",
     .kind = kCounter,
     .labels = {},
     .help = "Processor time in user and system mode, in seconds",
     .missing = "the system does not say"},
    {.metric = Metric::kProcessResident,
     .area = kProcess,
     .name = "process_resident_memory_bytes",
     .kind = kGauge,
     .labels = {},
     .help = "Resident memory, in bytes",
     .missing = "the system does not say"},
    {.metric = Metric::kProcessVirtual,
     .area = kProcess,
     .name = "process_virtual_memory_bytes",
     .kind = kGauge,
     .labels = {},
     .help = "Virtual memory, in bytes",
     .missing = "the system does not say"},
    {.metric = Metric::kProcessStart,
     .area = kProcess,
     .name = "process_start_time_seconds",
     .kind = kGauge,
     .labels = {},
     .help = "When the process started, in seconds since 1970",
     .missing = "the system does not say"},
    {.metric = Metric::kProcessOpenFiles,
     .area = kProcess,
     .name = "process_open_fds",
     .kind = kGauge,
     .labels = {},
     .help = "Open file descriptors",
     .missing = "the system does not say"},
    {.metric = Metric::kProcessMaxFiles,
     .area = kProcess,
     .name = "process_max_fds",
     .kind = kGauge,
     .labels = {},
     .help = "The most file descriptors that may be open",
     .missing = "the system does not say"},
}};

const MetricRow& row_of(Metric metric) { return kTable[static_cast<std::size_t>(metric)]; }

}  // namespace

std::size_t MetricRow::label_count() const {
  return static_cast<std::size_t>(std::ranges::count_if(labels, [](std::string_view label) { return !label.empty(); }));
}

std::span<const MetricRow> metric_table() { return kTable; }

FamilySet::FamilySet() {
  families_.reserve(kMetricCount);
  for (const MetricRow& row : kTable) {
    ENSURE(static_cast<std::size_t>(row.metric) == families_.size());
    families_.push_back({.name = std::string(row.name), .help = std::string(row.help), .kind = row.kind});
  }
}

void FamilySet::add(Metric metric, std::initializer_list<std::string_view> values, double value) {
  put(metric, values, false, value);
}
void FamilySet::add(Metric metric, std::initializer_list<std::string_view> values, MetricHistogram value) {
  put(metric, values, false, std::move(value));
}
void FamilySet::add_rest(Metric metric, std::initializer_list<std::string_view> values, double value) {
  put(metric, values, true, value);
}
void FamilySet::add_rest(Metric metric, std::initializer_list<std::string_view> values, MetricHistogram value) {
  put(metric, values, true, std::move(value));
}

void FamilySet::put(Metric metric, std::initializer_list<std::string_view> values, bool is_rest,
                    std::variant<double, MetricHistogram> value) {
  const MetricRow& row = row_of(metric);
  ENSURE(values.size() == row.label_count());
  MetricSample sample{.labels = {}, .value = std::move(value)};
  sample.labels.reserve(values.size() + (is_rest ? 1 : 0));
  const std::string_view* name = row.labels.data();
  for (const std::string_view each : values) sample.labels.emplace_back(*name++, each);
  if (is_rest) sample.labels.emplace_back(kOverflowLabel, "true");
  families_[static_cast<std::size_t>(metric)].samples.push_back(std::move(sample));
}

void FamilySet::add(Metric metric, MetricSample sample) {
  const MetricRow& row = row_of(metric);
  const std::size_t count = row.label_count();
  ENSURE(sample.labels.size() == count || sample.labels.size() == count + 1);
  for (std::size_t i = 0; i < count; ++i) ENSURE(sample.labels[i].first == row.labels[i]);
  families_[static_cast<std::size_t>(metric)].samples.push_back(std::move(sample));
}

}  // namespace berth::metrics
