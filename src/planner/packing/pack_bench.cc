// The packer compared with a generic integer solver (Cbc) on ParvaGPU's six scenarios: scripts/bench packing. Needs
// BERTH_DATA.
#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "domain/mig/catalogue.h"
#include "domain/profile/readers.h"
#include "planner/packing/pack.h"
#include "planner/packing/testing/integer_model.h"

namespace berth::packing {
namespace {

constexpr std::size_t kModelCount = 11;
constexpr const char* kModels[kModelCount] = {"bert",        "densenet121", "densenet169", "densenet201",
                                              "inceptionv3", "mobilenetv2", "resnet101",   "resnet152",
                                              "resnet50",    "vgg16",       "vgg19"};

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// The cells of one line of a file.
std::vector<std::string> cells_of(const std::string& path, std::int64_t line_number) {
  std::istringstream lines(text_of(path));
  std::string line;
  for (std::int64_t i = 0; i < line_number; ++i) std::getline(lines, line);
  std::vector<std::string> cells;
  std::istringstream fields(line);
  for (std::string cell; std::getline(fields, cell, ',');) {
    if (cell.ends_with('\r')) cell.pop_back();
    cells.push_back(cell);
  }
  return cells;
}

PackingProblem scenario(const std::string& folder, std::int64_t number) {
  PackingProblem problem;
  problem.offers = {{.model = mig::find_gpu_model("A100-80GB").value()}};
  const auto rates = cells_of(folder + "SLO/SLO_req_rate.csv", number);
  const auto targets = cells_of(folder + "SLO/SLO_latency.csv", number);
  for (std::size_t m = 0; m < kModelCount; ++m) {
    PerformanceTable table =
        profile::read_parvagpu(text_of(folder + "prof_data/" + kModels[m] + ".csv"), kModels[m]).value();
    table.model = kModels[m];
    problem.tables.push_back(std::move(table));
    if (rates[m] == "N/A") continue;
    problem.demands.push_back(
        {kModels[m], kModels[m], Decimal::parse(rates[m]).value(), Decimal::parse(targets[m]).value()});
  }
  return problem;
}

/// ParvaGPU's scenario of the benchmark's argument, or nothing, with the reason printed.
std::optional<PackingProblem> scenario_or_skip(benchmark::State& state) {
  const char* data = std::getenv("BERTH_DATA");
  if (data == nullptr) {
    state.SkipWithError("BERTH_DATA is not set");
    return std::nullopt;
  }
  return scenario(std::string(data) + "/parvagpu/", state.range(0));
}

/// Objective, largest free slice and slice count, all proven, with places.
void pack_scenario(benchmark::State& state) {
  const auto problem = scenario_or_skip(state);
  if (!problem) return;
  std::int64_t gpus = 0;
  for (auto _ : state) gpus = pack(*problem, {}).value().score.gpus;
  state.counters["gpus"] = static_cast<double>(gpus);
}
BENCHMARK(pack_scenario)->DenseRange(1, 6)->Unit(benchmark::kMillisecond);

/// The objective alone, in doubles.
void integer_model_scenario(benchmark::State& state) {
  const auto problem = scenario_or_skip(state);
  if (!problem) return;
  double gpus = 0;
  for (auto _ : state) gpus = reference::IntegerModel(*problem, {}).solve().objective;
  state.counters["gpus"] = std::round(gpus);
}
BENCHMARK(integer_model_scenario)->DenseRange(1, 6)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace berth::packing
