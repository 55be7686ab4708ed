// Serving by rates compared with serving request by request: goodput within 2 % for loads, drops, batches, sharing and
// retraining.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "domain/profile/operating_point.h"
#include "domain/profile/readers.h"
#include "domain/trace/readers.h"
#include "sim/measure/testing/runs.h"

namespace berth::measure {
namespace {

using testing::generated;
using testing::holding_of;
using testing::Row;
using testing::run_fixed;
using testing::scenario_of;
using testing::service_of;
using testing::slice_at;

/// The replicas of a service that has one GPU to itself.
struct Setting {
  std::string name;
  std::vector<Row> rows;
  std::vector<std::pair<std::string, int>> slices;
  std::int64_t target_ms = 100;
  bool is_small = false;
};

Setting repeated(std::string name, std::vector<Row> rows, int slices, std::int64_t target_ms) {
  Setting setting{.name = std::move(name), .rows = std::move(rows), .slices = {}, .target_ms = target_ms};
  for (int start = 0; start < slices; ++start) setting.slices.emplace_back("1g.10gb", start);
  return setting;
}

/// Services small enough to be served request by request at either fidelity.
std::vector<Setting> small_settings() {
  return {
      repeated("one at a time", {{.batch = 1, .latency_ms = 10}}, 1, 23),
      repeated("batches",
               {{.batch = 1, .processes = 2, .latency_ms = 8}, {.batch = 16, .processes = 2, .latency_ms = 40}}, 1,
               100),
  };
}

/// Settings with which the model was developed.
std::vector<Setting> tuned_settings() {
  return {
      repeated("7 x 3 x 32 in 60",
               {{.batch = 1, .processes = 3, .latency_ms = 6},
                {.batch = 8, .processes = 3, .latency_ms = 20},
                {.batch = 32, .processes = 3, .latency_ms = 60}},
               7, 200),
      repeated("1 x 3 x 8 in 4",
               {{.batch = 1, .processes = 3, .latency_ms = 1}, {.batch = 8, .processes = 3, .latency_ms = 4}}, 1, 10),
      repeated("4 x 2 x 1 in 1", {{.batch = 1, .processes = 2, .latency_ms = 1}}, 4, 4),
      repeated("2 x 1 x 64 in 10", {{.batch = 64, .processes = 1, .latency_ms = 10}}, 2, 25),
      {"large and small",
       {{.profile = "1g.10gb", .batch = 32, .processes = 1, .latency_ms = 30},
        {.profile = "3g.40gb", .batch = 1, .processes = 3, .latency_ms = 2},
        {.profile = "3g.40gb", .batch = 64, .processes = 3, .latency_ms = 20}},
       {{"1g.10gb", 0}, {"3g.40gb", 4}},
       90},
  };
}

/// Settings with early drops only.
std::vector<Setting> medium_settings() {
  return {
      repeated("2 x 3 x 8 in 20",
               {{.batch = 1, .processes = 3, .latency_ms = 5}, {.batch = 8, .processes = 3, .latency_ms = 20}}, 2, 50),
      repeated("3 x 2 x 4 in 8",
               {{.batch = 1, .processes = 2, .latency_ms = 3}, {.batch = 4, .processes = 2, .latency_ms = 8}}, 3, 18),
      repeated("1 x 1 x 64 in 40",
               {{.batch = 1, .processes = 1, .latency_ms = 4}, {.batch = 64, .processes = 1, .latency_ms = 40}}, 1,
               100),
  };
}

/// Settings that were not used while the model was developed.
std::vector<Setting> held_out_settings() {
  return {
      repeated("6 x 2 x 24 in 14",
               {{.batch = 1, .processes = 2, .latency_ms = 4}, {.batch = 24, .processes = 2, .latency_ms = 14}}, 6, 33),
      repeated("5 x 3 x 1 in 2", {{.batch = 1, .processes = 3, .latency_ms = 2}}, 5, 8),
      repeated("3 x 3 x 100 in 70",
               {{.batch = 1, .processes = 3, .latency_ms = 9}, {.batch = 100, .processes = 3, .latency_ms = 70}}, 3,
               160),
      {"three sizes",
       {{.profile = "1g.10gb", .batch = 12, .processes = 3, .latency_ms = 21},
        {.profile = "2g.20gb", .batch = 1, .processes = 1, .latency_ms = 2},
        {.profile = "2g.20gb", .batch = 20, .processes = 1, .latency_ms = 6},
        {.profile = "3g.40gb", .batch = 48, .processes = 2, .latency_ms = 16}},
       {{"1g.10gb", 0}, {"2g.20gb", 2}, {"3g.40gb", 4}},
       50},
  };
}

double capacity_of(const Setting& setting) {
  double sum = 0;
  for (const auto& [profile, start] : setting.slices) {
    double most = 0;
    for (const Row& row : setting.rows) {
      if (row.profile != profile && !(setting.rows.front().profile == "1g.10gb" && setting.slices.size() == 1))
        continue;
      most = std::max(most, 1000.0 * row.batch * row.processes / static_cast<double>(row.latency_ms));
    }
    sum += most;
  }
  return sum;
}

Scenario scenario_at(Setting setting, double load, DropRule drop, Generator::Kind kind, std::int64_t seconds) {
  // Without drops only larger services are served by rates.
  for (Row& row : setting.rows) row.processes *= drop == DropRule::kNever && !setting.is_small ? 4 : 1;
  const Decimal rate(std::llround(load * capacity_of(setting) * 1000), 1000);
  auto service = service_of("s", setting.rows, generated(kind, rate, seconds));
  service.drop = drop;
  testing::set_target_ms(service, setting.target_ms);
  std::vector<Holding> layout;
  for (const auto& [profile, start] : setting.slices) layout.push_back(holding_of(slice_at(0, profile, start), {0}));
  std::sort(layout.begin(), layout.end(), [](const Holding& a, const Holding& b) { return a.slice < b.slice; });
  return scenario_of({service}, layout);
}

/// The goodput of serving request by request and of serving by rates.
struct Pair {
  double exact = 0;
  double rates = 0;
  /// The difference, relative where the goodput is above one half.
  [[nodiscard]] double difference() const { return std::abs(rates - exact) / (exact > 0.5 ? exact : 1.0); }
};

Pair compare(Scenario scenario, const sim::WorldOptions& world = {}) {
  Pair pair;
  pair.exact = run_fixed(scenario, 1, world).result.figures.goodput.value_or(0);
  scenario.fidelity = Fidelity::kRates;
  pair.rates = run_fixed(scenario, 1, world).result.figures.goodput.value_or(0);
  return pair;
}

void expect_close(const Scenario& scenario, const std::string& name, const sim::WorldOptions& world = {}) {
  const Pair pair = compare(scenario, world);
  if (std::getenv("BERTH_TABLE") != nullptr) {
    std::printf("%s %-60s %.4f %.4f %+.4f\n", pair.difference() > 0.02 ? "!" : " ", name.c_str(), pair.exact,
                pair.rates, pair.rates - pair.exact);
  }
  EXPECT_LE(pair.difference(), 0.02) << name << ": " << pair.exact << " request by request, " << pair.rates
                                     << " by rates";
}

const std::vector<double> kLoads =
    testing::kIsSlowBuild ? std::vector{0.85, 1.15} : std::vector{0.5, 0.7, 0.85, 0.95, 1.0, 1.05, 1.15, 1.3};

void expect_close_at_all_loads(const std::vector<Setting>& settings, DropRule drop) {
  const std::vector<std::pair<Generator::Kind, std::string>> kinds = {{Generator::Kind::kPoisson, "poisson"},
                                                                      {Generator::Kind::kBursty, "bursty"},
                                                                      {Generator::Kind::kConstant, "constant"}};
  for (const Setting& setting : settings) {
    for (const auto& [kind, kind_name] : kinds) {
      for (const double load : kLoads) {
        if (load == 1.0 && drop == DropRule::kNever && kind != Generator::Kind::kConstant)
          continue;  // decided by chance alone
        expect_close(scenario_at(setting, load, drop, kind, drop == DropRule::kEarly ? 100 : 30),
                     setting.name + ", " + kind_name + (drop == DropRule::kEarly ? ", early, " : ", never, ") +
                         std::to_string(load).substr(0, 4));
      }
    }
  }
}

TEST(RateServing, AgreesWithEarlyDropsOnWhatItWasMadeOn) {
  expect_close_at_all_loads(tuned_settings(), DropRule::kEarly);
  expect_close_at_all_loads(medium_settings(), DropRule::kEarly);
}
TEST(RateServing, AgreesWithEarlyDropsOnWhatItNeverSaw) {
  expect_close_at_all_loads(held_out_settings(), DropRule::kEarly);
}
TEST(RateServing, AgreesWithoutDropsOnWhatItWasMadeOn) {
  expect_close_at_all_loads(tuned_settings(), DropRule::kNever);
}
TEST(RateServing, AgreesWithoutDropsOnWhatItNeverSaw) {
  expect_close_at_all_loads(held_out_settings(), DropRule::kNever);
}

TEST(RateServing, SmallServicesAreServedRequestByRequest) {
  for (const DropRule drop : {DropRule::kEarly, DropRule::kNever}) {
    for (Setting setting : small_settings()) {
      setting.is_small = true;
      Scenario scenario = scenario_at(setting, 0.95, drop, Generator::Kind::kPoisson, 60);
      const std::string exact = testing::shown(run_fixed(scenario).journal);
      scenario.fidelity = Fidelity::kRates;
      EXPECT_EQ(testing::shown(run_fixed(scenario).journal), exact);
    }
  }
}

/// Three large services and a small one, with retraining, on two GPUs; 14,000 and 8,000 requests per second are the
/// limits.
Scenario several_services(double load) {
  const std::vector<Row> rows = {{.profile = "1g.10gb", .batch = 1, .processes = 2, .latency_ms = 3},
                                 {.profile = "1g.10gb", .batch = 16, .processes = 2, .latency_ms = 8},
                                 {.profile = "3g.40gb", .batch = 1, .processes = 3, .latency_ms = 2},
                                 {.profile = "3g.40gb", .batch = 32, .processes = 3, .latency_ms = 12}};
  const auto made = [&](std::string name, double capacity, Generator::Kind kind, std::int64_t target_ms) {
    auto service = service_of(std::move(name), rows, generated(kind, Decimal(std::llround(load * capacity)), 200));
    testing::set_target_ms(service, target_ms);
    service.accuracy = {.before_micro = 600'000, .after_micro = 900'000};
    return service;
  };
  auto a = made("a", 8000 + 4000, Generator::Kind::kPoisson, 30);
  auto b = made("b", 8000, Generator::Kind::kBursty, 40);
  auto c = made("c", 8000, Generator::Kind::kDiurnal, 28);
  auto d = made("d", 300, Generator::Kind::kPoisson, 25);
  Retraining retraining;
  retraining.every = Micros::seconds(60);
  retraining.offset = Micros::seconds(5);
  retraining.swap = Micros::seconds(1);
  retraining.time_on = {{1, Micros::seconds(20)}};
  a.retraining = retraining;
  return scenario_of({a, b, c, d},
                     {holding_of(slice_at(0, "1g.10gb", 0), {0}), holding_of(slice_at(0, "3g.40gb", 4), {0}),
                      holding_of(slice_at(1, "1g.10gb", 0), {3}), holding_of(slice_at(1, "3g.40gb", 4), {1}),
                      holding_of(slice_at(2, "3g.40gb", 4), {2})},
                     3);
}

Pair compare_with_retraining(Scenario scenario) {
  const auto goodput = [&] {
    std::vector<Stage> stages = testing::fixed_stages(scenario);
    stages.push_back(retraining_stage(scenario));
    return testing::run(scenario, std::move(stages)).result.figures.goodput.value_or(0);
  };
  Pair pair;
  pair.exact = goodput();
  scenario.fidelity = Fidelity::kRates;
  pair.rates = goodput();
  return pair;
}

TEST(RateServing, AgreesOnSeveralServicesWithRetraining) {
  for (const double load : kLoads) {
    const Pair pair = compare_with_retraining(several_services(load));
    EXPECT_LE(pair.difference(), 0.02) << load << ": " << pair.exact << ", " << pair.rates << " by rates";
  }
}

TEST(RateServing, AgreesWhereSlicesInterfere) {
  for (const double load : kLoads) {
    Scenario scenario = several_services(load);
    scenario.interference = {Decimal(1), Decimal(11, 10)};
    const Pair pair = compare_with_retraining(scenario);
    EXPECT_LE(pair.difference(), 0.02) << load << ": " << pair.exact << ", " << pair.rates << " by rates";
  }
}

TEST(RateServing, AgreesOnSharedGpus) {
  const std::vector<Row> rows = {{.profile = "full", .batch = 1, .processes = 3, .latency_ms = 2},
                                 {.profile = "full", .batch = 64, .processes = 3, .latency_ms = 10}};
  for (const Sharing sharing : {Sharing::kTimeSlices, Sharing::kMps}) {
    for (const double load : {0.2, 0.4, 0.6, 0.8, 1.2}) {
      auto a = service_of("a", rows, generated(Generator::Kind::kPoisson, Decimal(std::llround(load * 9600)), 60));
      auto b = service_of("b", rows, generated(Generator::Kind::kPoisson, Decimal(std::llround(load * 9600)), 60));
      expect_close(
          scenario_of({a, b}, {holding_of(slice_at(0, "full", 0), {0, 1})}),
          std::string("shared, ") + (sharing == Sharing::kMps ? "MPS, " : "time slices, ") + std::to_string(load),
          {.sharing = sharing, .dispatch = Dispatch::kPull, .only = {}});
    }
  }
}

TEST(RateServing, AChangeInTheMiddleOfASecondCounts) {
  // At half of the load a slice goes at 20.5 s and comes back at 40.5 s; the other one is overloaded in between.
  Scenario scenario = scenario_at(tuned_settings()[0], 0.9, DropRule::kEarly, Generator::Kind::kPoisson, 60);
  const auto goodput = [&] {
    std::vector<Stage> stages = testing::fixed_stages(scenario);
    const Slice slice = slice_at(0, "1g.10gb", 3);
    stages.push_back(testing::scripted(
        {{20, {testing::destroy(slice)}}, {40, {testing::create(slice), testing::assign(holding_of(slice, {0}))}}}));
    return testing::run(scenario, std::move(stages)).result.figures.goodput.value_or(0);
  };
  const double exact = goodput();
  scenario.fidelity = Fidelity::kRates;
  EXPECT_NEAR(goodput(), exact, 0.01);
}

// ---- real traces and profiles

std::string bytes_of(const std::string& command) {
  std::FILE* pipe = ::popen(command.c_str(), "r");
  std::string text;
  std::array<char, 65'536> part{};
  while (const std::size_t size = std::fread(part.data(), 1, part.size(), pipe)) text.append(part.data(), size);
  ::pclose(pipe);
  return text;
}

TEST(RateServing, AgreesOnTheTwitterTraceWithMeasuredProfiles) {
  const char* data = std::getenv("BERTH_DATA");
  if (data == nullptr) GTEST_SKIP() << "BERTH_DATA does not name the folder with the public traces";
  const std::string folder(data);
  const auto counts = read_rps_text(
      bytes_of("gzip -dc '" + folder + "/twitter/requests_per_second_14days.txt.gz' | head -n 20000"), "t");
  ASSERT_TRUE(counts.has_value());
  const std::vector<std::pair<std::string, std::int64_t>> models = {
      {"resnet50", 100}, {"mobilenetv2", 60}, {"bert", 400}, {"vgg16", 150}};
  for (const auto& [model, target_ms] : models) {
    const auto table =
        profile::read_parvagpu(bytes_of("cat '" + folder + "/parvagpu/prof_data/" + model + ".csv'"), model);
    ASSERT_TRUE(table.has_value()) << model;
    auto service = service_of(model, {}, Arrivals{});
    service.table = *table;
    service.batching = {};
    testing::set_target_ms(service, target_ms);
    double capacity = 0;
    std::vector<Holding> layout;
    for (const Slice& slice :
         {slice_at(0, "1g.10gb", 0), slice_at(0, "2g.20gb", 2), slice_at(0, "3g.40gb", 4), slice_at(1, "7g.80gb", 0)}) {
      const auto point = profile::choose_point(service, testing::a100(), slice.profile);
      if (point) capacity += point->requests_per_second.to_double();
      layout.push_back(holding_of(slice, {0}));
    }
    double mean = 0;
    for (std::size_t second = 10'000; second < 10'600; ++second) mean += counts->counts[second] / 600.0;
    for (const double load : {0.6, 0.9, 1.0, 1.2}) {
      service.arrivals.source = *counts;
      service.arrivals.from_second = 10'000;
      service.arrivals.seconds = 600;
      service.arrivals.scale = Decimal(std::llround(load * capacity / mean * 1000), 1000);
      for (const DropRule drop : {DropRule::kEarly, DropRule::kNever}) {
        service.drop = drop;
        expect_close(scenario_of({service}, layout, 2),
                     model + (drop == DropRule::kEarly ? ", early, " : ", never, ") + std::to_string(load));
      }
    }
  }
}

TEST(RateServing, LateIsWhatIsAnsweredAfterTheTargetAndDroppedAfterTheAnswerIsWanted) {
  // 10 per second are served; 100 come in second 0, the target is 1 s, answers are wanted for 4 s.
  std::vector<std::uint32_t> counts(12, 0);
  counts[0] = 100;
  ServiceSpec service = service_of("s", {{.batch = 1, .latency_ms = 100}}, testing::counted(counts));
  service.target = Micros(1'000'000);
  service.target_ms = Decimal(1000);
  Scenario scenario = scenario_of({service}, {holding_of(slice_at(0, "1g.10gb", 0), {0})});
  scenario.fidelity = Fidelity::kRates;
  const Figures strict = run_fixed(scenario).result.figures;
  EXPECT_EQ(strict.late, 0);
  scenario.services[0].ready.answer = Micros(4'000'000);
  const Figures patient = run_fixed(scenario).result.figures;
  EXPECT_EQ(patient.in_time + patient.late + patient.dropped, 100);
  EXPECT_LE(patient.in_time, strict.in_time + 5);
  EXPECT_NEAR(static_cast<double>(patient.late), 30, 12);
  EXPECT_LT(patient.dropped, strict.dropped);
}

}  // namespace
}  // namespace berth::measure
