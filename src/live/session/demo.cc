#include "live/session/demo.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "domain/mig/catalogue.h"

namespace berth::live {
namespace {

/// The latency of a model: fixed_ms + item_ms x batch x (7 / compute slices)^scaling on an A100, less on a faster GPU.
struct Shape {
  double fixed_ms = 0;
  double item_ms = 0;
  double scaling = 1;
};

struct DemoService {
  const char* name = nullptr;
  const char* tenant = nullptr;
  Shape shape;
  std::int64_t target_ms = 100;
  Generator::Kind load = Generator::Kind::kDiurnal;
  std::int64_t requests_per_second = 0;
  bool retrains = false;
};

constexpr std::array kServices = {
    DemoService{.name = "detector",
                .tenant = "vision",
                .shape = {3, 9, 0.8},
                .target_ms = 150,
                .requests_per_second = 220,
                .retrains = true},
    DemoService{.name = "captioner",
                .tenant = "vision",
                .shape = {8, 22, 0.75},
                .target_ms = 400,
                .load = Generator::Kind::kBursty,
                .requests_per_second = 60},
    DemoService{.name = "translator",
                .tenant = "language",
                .shape = {6, 14, 0.7},
                .target_ms = 250,
                .requests_per_second = 120},
    DemoService{.name = "summariser",
                .tenant = "language",
                .shape = {12, 30, 0.8},
                .target_ms = 600,
                .load = Generator::Kind::kPoisson,
                .requests_per_second = 40},
    DemoService{.name = "ranker",
                .tenant = "search",
                .shape = {1.5, 4, 0.6},
                .target_ms = 60,
                .load = Generator::Kind::kBursty,
                .requests_per_second = 400},
    DemoService{.name = "embedder",
                .tenant = "search",
                .shape = {2, 3, 0.7},
                .target_ms = 80,
                .load = Generator::Kind::kPoisson,
                .requests_per_second = 300,
                .retrains = true},
};

constexpr std::int64_t kWindowSeconds = 3600;
constexpr std::array kBatches = {1, 2, 4, 8, 16};
constexpr std::array kProcesses = {1, 2, 3};
/// The effect of a second process on the latency of the first.
constexpr double kProcessPrice = 0.62;

/// The speed of a whole GPU, relative to an A100.
double speed_of(const GpuModel& model) {
  if (model.name.starts_with("H100")) return 1.8;
  if (model.name.starts_with("A30")) return 0.55;
  return 1;
}

PerformancePoint point_of(const Shape& shape, const GpuModel& model, const MigProfile& profile, int batch,
                          int processes) {
  const double share = static_cast<double>(model.compute_slices) / profile.compute_slices;
  const double alone = shape.fixed_ms + shape.item_ms * batch * std::pow(share, shape.scaling) / speed_of(model);
  const double latency_ms = alone * (1 + kProcessPrice * (processes - 1));
  // Rounded, so that the numbers are the same with every math library, and can be read back as shown.
  const std::int64_t centi_ms = std::llround(latency_ms * 100);
  const std::int64_t milli_rate = (std::int64_t{100'000'000} * batch * processes + centi_ms / 2) / centi_ms;
  return {.gpu = model.name,
          .profile = profile.name,
          .batch = batch,
          .processes = processes,
          .requests_per_second = Decimal(milli_rate, 1000),
          .latency_ms = Decimal(centi_ms, 100)};
}

PerformanceTable table_of(const DemoService& demo, const std::vector<FleetEntry>& fleet) {
  PerformanceTable table{.model = demo.name, .points = {}};
  for (const FleetEntry& entry : fleet) {
    for (const MigProfile& profile : entry.model.profiles) {
      if (!profile.is_plain()) continue;
      for (const int processes : kProcesses) {
        for (const int batch : kBatches) {
          table.points.push_back(point_of(demo.shape, entry.model, profile, batch, processes));
        }
      }
    }
  }
  std::sort(table.points.begin(), table.points.end(), [](const PerformancePoint& a, const PerformancePoint& b) {
    return std::tie(a.gpu, a.profile, a.processes, a.batch) < std::tie(b.gpu, b.profile, b.processes, b.batch);
  });
  return table;
}

ServiceSpec service_of(const DemoService& demo, const std::vector<FleetEntry>& fleet) {
  ServiceSpec service;
  service.name = demo.name;
  service.tenant = demo.tenant;
  service.target = Micros(demo.target_ms * 1000);
  service.target_ms = Decimal(demo.target_ms);
  service.table = table_of(demo, fleet);
  service.arrivals = {.source = Generator{.kind = demo.load, .requests_per_second = Decimal(demo.requests_per_second)},
                      .seconds = kWindowSeconds,
                      .repeat = true};
  service.expects = Decimal(demo.requests_per_second);
  if (!demo.retrains) return service;
  service.accuracy = {.before_micro = 780'000, .after_micro = 910'000};
  Retraining retraining;
  retraining.every = Micros::seconds(600);
  retraining.offset = Micros::seconds(120);
  retraining.time_on = {{1, Micros::seconds(180)}, {2, Micros::seconds(100)}, {3, Micros::seconds(70)}};
  service.retraining = std::move(retraining);
  return service;
}

FleetEntry entry_of(const char* model, std::int64_t count, std::int64_t milli_usd) {
  return {.model = *mig::find_gpu_model(model), .count = count, .usd_per_gpu_hour = Decimal(milli_usd, 1000)};
}

}  // namespace

Scenario demo_scenario() {
  Scenario scenario;
  scenario.name = "demo (generated)";
  scenario.fleet = {entry_of("A100-80GB", 4, 3673), entry_of("H100-80GB", 2, 6880), entry_of("A30-24GB", 2, 1100)};
  scenario.window_seconds = 60;
  for (const DemoService& demo : kServices) scenario.services.push_back(service_of(demo, scenario.fleet));
  return scenario;
}

}  // namespace berth::live
