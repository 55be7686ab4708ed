#include "serving/figures/metric_families.h"

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace berth::serving {
namespace {

struct Label {
  std::string_view name;
  std::string_view value;
};

/// Families of metrics, one after the other.
class FamilyList {
 public:
  /// The samples that follow are of this family. Requires: every family once.
  void begin(std::string_view name, MetricKind kind, std::string_view help) {
    families_.push_back({.name = std::string(name), .help = std::string(help), .kind = kind});
  }
  template <class Number>
  void sample(std::initializer_list<Label> labels, Number number) {
    put(labels, static_cast<double>(number));
  }
  void sample(std::initializer_list<Label> labels, MetricHistogram histogram) { put(labels, std::move(histogram)); }
  [[nodiscard]] std::vector<MetricFamily> take() { return std::move(families_); }

 private:
  void put(std::initializer_list<Label> labels, std::variant<double, MetricHistogram> value) {
    MetricSample sample{.labels = {}, .value = std::move(value)};
    for (const Label& label : labels) sample.labels.emplace_back(label.name, label.value);
    families_.back().samples.push_back(std::move(sample));
  }

  std::vector<MetricFamily> families_;
};

bool is_version(const ModelCounters& model) { return !model.version.empty(); }

// ---- Triton's

struct TritonCounter {
  std::string_view name;
  std::string_view help;
  std::int64_t (*of)(const ModelCounters&);
};

constexpr TritonCounter kTritonCounters[] = {
    {"nv_inference_request_success", "Number of successful inference requests, all batch sizes",
     [](const ModelCounters& m) { return m.totals.in_time + m.totals.late; }},
    {"nv_inference_count", "Number of inferences performed (does not include cached requests)",
     [](const ModelCounters& m) { return m.totals.rows; }},
    {"nv_inference_exec_count", "Number of model executions performed (does not include cached requests)",
     [](const ModelCounters& m) { return m.totals.batches; }},
    {"nv_inference_request_duration_us", "Cumulative inference request duration in microseconds",
     [](const ModelCounters& m) { return m.answer_time.count(); }},
    {"nv_inference_queue_duration_us", "Cumulative inference queuing duration in microseconds",
     [](const ModelCounters& m) { return m.statistics.queued.sum.count(); }},
    {"nv_inference_compute_input_duration_us", "Cumulative compute input duration in microseconds",
     [](const ModelCounters& m) { return m.statistics.input.sum.count(); }},
    {"nv_inference_compute_infer_duration_us", "Cumulative compute inference duration in microseconds",
     [](const ModelCounters& m) { return m.statistics.run.sum.count(); }},
    {"nv_inference_compute_output_duration_us", "Cumulative inference compute output duration in microseconds",
     [](const ModelCounters& m) { return m.statistics.output.sum.count(); }},
};

void put_triton_counters(FamilyList& out, const CounterFigures& figures) {
  for (const TritonCounter& counter : kTritonCounters) {
    out.begin(counter.name, MetricKind::kCounter, counter.help);
    for (const ModelCounters& model : figures.models) {
      if (is_version(model)) out.sample({{"model", model.name}, {"version", model.version}}, counter.of(model));
    }
  }
}

void put_triton_failures(FamilyList& out, const CounterFigures& figures) {
  out.begin("nv_inference_request_failure", MetricKind::kCounter,
            "Number of failed inference requests, all batch sizes");
  for (const ModelCounters& model : figures.models) {
    if (!is_version(model)) continue;
    const auto put = [&](std::string_view reason, std::int64_t count) {
      out.sample({{"model", model.name}, {"reason", reason}, {"version", model.version}}, count);
    };
    put("REJECTED", model.totals.rejected + model.totals.expired);
    put("CANCELED", model.totals.cancelled);
    put("BACKEND", model.totals.failed);
    put("OTHER", 0);
  }
}

void put_triton_waiting(FamilyList& out, const CounterFigures& figures) {
  out.begin("nv_inference_pending_request_count", MetricKind::kGauge,
            "Instantaneous number of pending requests awaiting execution per-model");
  for (const ModelCounters& model : figures.models) {
    if (is_version(model)) out.sample({{"model", model.name}, {"version", model.version}}, model.waiting);
  }
}

void put_triton_histogram(FamilyList& out, const CounterFigures& figures) {
  constexpr double kMicrosPerMs = 1000;
  out.begin("nv_inference_first_response_histogram_ms", MetricKind::kHistogram,
            "Duration from request to first response in milliseconds");
  for (const ModelCounters& model : figures.models) {
    if (!is_version(model)) continue;
    MetricHistogram histogram;
    for (const Micros bound : kFirstResponseBounds) {
      histogram.bounds.push_back(static_cast<double>(bound.count()) / kMicrosPerMs);
    }
    for (const std::int64_t count : model.first_response) {
      histogram.counts.push_back(static_cast<std::uint64_t>(count));
    }
    histogram.sum = static_cast<double>(model.answer_time.count()) / kMicrosPerMs;
    out.sample({{"model", model.name}, {"version", model.version}}, std::move(histogram));
  }
}

// ---- Berth's

void put_server(FamilyList& out, const CounterFigures& figures) {
  const auto gauge = [&](std::string_view name, std::string_view help, std::optional<std::int64_t> number) {
    out.begin(name, MetricKind::kGauge, help);
    if (number) out.sample({}, *number);
  };
  out.begin("berth_device_info", MetricKind::kGauge, "The device: always 1");
  out.sample({{"device", figures.device}}, 1);
  gauge("berth_lanes", "Batches that may run at a time", figures.lanes);
  gauge("berth_lanes_busy", "Batches that run now", figures.lanes_busy);
  gauge("berth_lanes_lost", "Lanes that never came back from a batch", figures.lanes_lost);
  gauge("berth_queue_requests", "Requests that wait", figures.waiting);
  gauge("berth_queue_bytes", "Bytes of the inputs of requests that wait", figures.waiting_bytes);
  gauge("berth_memory_limit_bytes", "Memory for models", figures.memory.limit_bytes);
  gauge("berth_memory_reserved_bytes", "Memory reserved for models", figures.memory.reserved_bytes);
  gauge("berth_memory_measured_bytes", "Memory that models were measured to take, where it is known",
        figures.memory.measured_bytes);
  gauge("berth_memory_base_bytes", "Memory of the process before its first model", figures.memory.base_bytes);
  gauge("berth_device_free_bytes", "Memory that the device says is free", figures.memory.device_free_bytes);
}

void put_models(FamilyList& out, const CounterFigures& figures) {
  const auto family = [&](std::string_view name, MetricKind kind, std::string_view help, const auto& number_of) {
    out.begin(name, kind, help);
    for (const ModelCounters& model : figures.models) {
      if (!is_version(model)) continue;
      const auto number = number_of(model);
      if (number) out.sample({{"model", model.name}, {"version", model.version}}, *number);
    }
  };
  using M = const ModelCounters&;
  using Whole = std::optional<std::int64_t>;
  family("berth_model_reserved_bytes", MetricKind::kGauge, "Memory reserved for the model",
         [](M m) { return Whole(m.reserved_bytes); });
  family("berth_model_measured_bytes", MetricKind::kGauge, "Memory that the model was measured to take",
         [](M m) { return m.measured_bytes; });
  family("berth_model_loads_total", MetricKind::kCounter, "Loads that ended well", [](M m) { return Whole(m.loads); });
  family("berth_model_load_seconds_total", MetricKind::kCounter, "Time of the loads that ended well",
         [](M m) { return std::optional(m.load_time.to_seconds()); });
  family("berth_model_evictions_total", MetricKind::kCounter, "How often the model left the memory",
         [](M m) { return Whole(m.evictions); });
  if (!figures.has_preloads) return;
  family("berth_model_preloads_total", MetricKind::kCounter, "Loads that no request asked for",
         [](M m) { return Whole(m.preloads.begun); });
  family("berth_model_preload_hits_total", MetricKind::kCounter, "Preloads after which the model ran before it left",
         [](M m) { return Whole(m.preloads.hits); });
}

struct NamedOutcome {
  std::string_view name;
  std::int64_t RequestFigures::* count;
};

constexpr NamedOutcome kOutcomes[] = {
    {"in_time", &RequestFigures::in_time},   {"late", &RequestFigures::late},
    {"rejected", &RequestFigures::rejected}, {"expired", &RequestFigures::expired},
    {"failed", &RequestFigures::failed},     {"cancelled", &RequestFigures::cancelled},
};

void put_requests(FamilyList& out, const CounterFigures& figures) {
  out.begin("berth_requests_total", MetricKind::kCounter, "Requests that arrived");
  for (const ModelCounters& model : figures.models) {
    out.sample({{"model", model.name}, {"version", model.version}}, model.totals.requests);
  }
  out.begin("berth_requests_ended_total", MetricKind::kCounter, "Requests that ended, by outcome");
  for (const ModelCounters& model : figures.models) {
    for (const NamedOutcome& outcome : kOutcomes) {
      out.sample({{"model", model.name}, {"version", model.version}, {"outcome", outcome.name}},
                 model.totals.*outcome.count);
    }
  }
}

}  // namespace

std::vector<MetricFamily> metric_families(const CounterFigures& figures) {
  FamilyList out;
  put_triton_counters(out, figures);
  put_triton_failures(out, figures);
  put_triton_waiting(out, figures);
  put_triton_histogram(out, figures);
  put_server(out, figures);
  put_models(out, figures);
  put_requests(out, figures);
  return out.take();
}

}  // namespace berth::serving
