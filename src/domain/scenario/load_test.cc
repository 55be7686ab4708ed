#include "domain/scenario/load.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace berth::scenario {
namespace {

/// Files in memory.
class MemoryFiles : public Files {
 public:
  explicit MemoryFiles(std::map<std::string, std::string> files) : files_(std::move(files)) {}
  [[nodiscard]] Result<std::string> read(const std::string& path) const override {
    const auto found = files_.find(path);
    if (found == files_.end()) return fail(ErrorCode::kNotFound, path + ": cannot read: no such file");
    return found->second;
  }
  [[nodiscard]] Result<std::optional<std::vector<std::string>>> list(const std::string& /*path*/) const override {
    return std::nullopt;
  }

 private:
  std::map<std::string, std::string> files_;
};

// Line numbers in the messages below count from here.
constexpr std::string_view kBase = R"(berth: 1
fleet: [{gpu: A100-80GB, count: 2}, {gpu: A30}]
services:
  - name: a
    profile: {format: csv, path: p.csv, model: m}
    slo: {latency_ms: 100}
    arrivals: {format: rps-text, path: r.txt}
  - name: b
    profile: {format: parvagpu, path: parva.csv, model: whatever}
    slo: {latency_ms: 50.5}
    arrivals: {format: poisson, requests_per_second: 2.5, seconds: 9}
)";

const std::map<std::string, std::string> kFiles = {
    {"p.csv", "model,gpu,profile,batch,processes,requests_per_second,latency_ms\nm,A100-80GB,1g.10gb,1,1,10,20\n"},
    {"parva.csv", "Mig instance,Batch size,Workload Number,Throughput,Latency\n7,1,2,10,0.02\n"},
    {"bad.csv", "model,gpu,profile,batch,processes,requests_per_second,latency_ms\nm,A30,1g.10gb,1,1,10,20\n"},
    {"r.txt", "1\n2\n3\n4\n"},
    {"s.csv", "second,requests\n1,10\n3,20\n"},
    {"blank.txt", "1\n\n2\n"},
    {"llm.csv", "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46.6805900,374,44\n"},
    {"f.csv", "HashOwner,HashApp,HashFunction,Trigger,1,2\no,app1,f1,http,3,4\no,app1,f2,http,1,1\n"},
    {"miso.csv",
     "model,batch,mig_slice,median_s_per_iter,mean_s_per_iter,n_iters\n"
     "bert,2,1g.5gb,9,0.3,9\nbert,2,7g.40gb,9,0.1,9\nbert,4,1g.5gb,9,0.3,9\n"},
};

/// The base with each `from` replaced by `to`.
std::string changed_scenario(const std::vector<std::pair<std::string_view, std::string_view>>& changes) {
  std::string text(kBase);
  for (const auto& [from, to] : changes) {
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    if (at != std::string::npos) text.replace(at, from.size(), to);
  }
  return text;
}

Result<Scenario> load(const std::string& text, const std::string& folder = "") {
  std::map<std::string, std::string> files = {{folder + "s.yaml", text}};
  for (const auto& [name, content] : kFiles) files.emplace(folder + name, content);
  return load_scenario(folder + "s.yaml", MemoryFiles(std::move(files)));
}

Scenario loaded(const std::string& text) {
  auto scenario = load(text);
  EXPECT_TRUE(scenario.has_value()) << scenario.error().message;
  return scenario.value_or(Scenario{});
}

TEST(Scenario, DefaultsAreThoseOfThePage) {
  const Scenario scenario = loaded(std::string(kBase));
  ASSERT_EQ(scenario.services.size(), 2U);
  EXPECT_EQ(scenario.name, "s.yaml");
  EXPECT_EQ(scenario.gpu_count(), 3U);
  EXPECT_EQ(scenario.model_of(GpuId{2}).name, "A30-24GB");
  EXPECT_FALSE(scenario.fleet[0].usd_per_gpu_hour.has_value());
  EXPECT_EQ(scenario.window_seconds, 200);
  EXPECT_EQ(scenario.history_seconds, 3600);
  EXPECT_EQ(scenario.observation_delay, Micros(0));
  EXPECT_EQ(scenario.planning, Micros(0));
  EXPECT_EQ(scenario.interference, std::vector{Decimal(1)});
  EXPECT_EQ(scenario.fidelity, Fidelity::kRequests);
  EXPECT_EQ(scenario.objective, Objective::kServices);
  EXPECT_EQ(scenario.changes, (ChangeCosts{Micros(500'000), Micros(500'000), Micros(0)}));
  EXPECT_TRUE(scenario.frozen.empty());
  EXPECT_EQ(scenario.gpus_per_node, 8);
  EXPECT_FALSE(scenario.provision_seconds.has_value());
  EXPECT_FALSE(scenario.layout.has_value());
  const ServiceSpec& a = scenario.services[0];
  EXPECT_EQ(a.tenant, "a");
  EXPECT_EQ(a.target, Micros(100'000));
  EXPECT_EQ(a.batching, (Batching{Decimal(45, 100), 3}));
  EXPECT_EQ(a.drop, DropRule::kEarly);
  EXPECT_EQ(a.start, Micros::seconds(5));
  EXPECT_EQ(a.accuracy, (Accuracy{1'000'000, 1'000'000}));
  EXPECT_FALSE(a.retraining || a.floor_attainment || a.changes_per_hour || a.trust_domain || a.expects);
  EXPECT_FALSE(a.agreed.attainment);
  EXPECT_TRUE(a.variants.empty() && a.pins.empty());
  EXPECT_EQ(a.weight, Decimal(1));
  EXPECT_EQ(a.isolation, Isolation::kMig);
  EXPECT_EQ(a.arrivals, (Arrivals{CountTrace{{1, 2, 3, 4}}, 0, 4, Decimal(1), 60}));
  const ServiceSpec& b = scenario.services[1];
  EXPECT_EQ(b.arrivals, (Arrivals{Generator{Generator::Kind::kPoisson, Decimal(5, 2)}, 0, 9, Decimal(1), 60}));
  EXPECT_EQ(b.target_ms, Decimal(101, 2));
  EXPECT_EQ(b.table.points[0].requests_per_second, Decimal(20));
}

TEST(Scenario, EveryKeyIsRead) {
  const Scenario scenario = loaded(changed_scenario({
      {"count: 2}", "count: 2, usd_per_gpu_hour: 3.673}"},
      {"services:",
       "window_seconds: 60\nhistory_seconds: 0\nobservation_delay_seconds: 0.0000005\nplanning_seconds: 2\n"
       "interference: [1.0, 1.25]\nfidelity: rates\nobjective: requests\nchanges: {create_seconds: 1.5}\n"
       "frozen: [{from_second: 1, seconds: 60}]\ngpus_per_node: 2\nscaling: {provision_seconds: 90}\n"
       "layout:\n- {gpu: 1, slices: [{profile: 3g.40gb, start: 4, service: b, role: retraining}, {profile: 1g.10gb, "
       "start: 0}]}\n"
       "- {gpu: 0, slices: [{profile: full, start: 0, service: a}]}\nservices:"},
      {"slo: {latency_ms: 100}",
       "slo: {latency_ms: 0.0005}\n    tenant: t\n    batching: {max_processes: 1}\n    drop: never\n    "
       "start_seconds: 0\n"
       "    accuracy: {before: 0.5, after: 0.1234565}\n    weight: 2\n    floor: {attainment: 0.95}\n    expects: "
       "{requests_per_second: 0.5}\n"
       "    pins: [{gpu: 0, profile: 1g.10gb, start: 6}]\n    changes_per_hour: 20\n    isolation: gpu\n    "
       "trust_domain: d\n"
       "    variants: [{name: int8, profile: {format: csv, path: p.csv, model: m}, accuracy: 0.9}]\n"
       "    retraining: {every_seconds: 200, offset_seconds: 1, swap_seconds: 2, unfinished: continue,\n"
       "                 seconds_on: {1g: 180, full: 1.5}}"},
      {"rps-text, path: r.txt",
       "rps-text, path: r.txt, from_second: 1, seconds: 90, scale: 1.5, smooth_seconds: 2, repeat: true"},
  }));
  EXPECT_EQ(scenario.fleet[0].usd_per_gpu_hour, Decimal(3673, 1000));
  EXPECT_EQ(scenario.window_seconds, 60);
  EXPECT_EQ(scenario.observation_delay, Micros(1));
  EXPECT_EQ(scenario.planning, Micros::seconds(2));
  EXPECT_EQ(scenario.interference[1], Decimal(5, 4));
  EXPECT_EQ(scenario.fidelity, Fidelity::kRates);
  EXPECT_EQ(scenario.objective, Objective::kRequests);
  EXPECT_EQ(scenario.changes, (ChangeCosts{Micros(500'000), Micros(1'500'000), Micros(0)}));
  EXPECT_EQ(scenario.frozen, (std::vector{FrozenWindow{Instant::at_second(1), Instant::at_second(61)}}));
  EXPECT_EQ(scenario.gpus_per_node, 2);
  EXPECT_EQ(scenario.provision_seconds, 90);
  ASSERT_TRUE(scenario.layout.has_value());
  ASSERT_EQ(scenario.layout->size(), 3U);
  EXPECT_TRUE((*scenario.layout)[0].slice.profile.is_full());
  EXPECT_EQ((*scenario.layout)[0].services, std::vector{ServiceId{0}});
  EXPECT_TRUE((*scenario.layout)[1].services.empty());
  EXPECT_EQ((*scenario.layout)[2].role, Role::kRetraining);
  const ServiceSpec& a = scenario.services[0];
  EXPECT_EQ(a.target, Micros(1));
  EXPECT_EQ(a.batching, (Batching{Decimal(45, 100), 1}));
  EXPECT_EQ(a.accuracy, (Accuracy{500'000, 123'457}));
  EXPECT_EQ(a.floor_attainment, Decimal(95, 100));
  EXPECT_EQ(a.expects, Decimal(1, 2));
  EXPECT_EQ(a.pins.at(0).slice.start, 6);
  EXPECT_EQ(a.changes_per_hour, 20);
  EXPECT_EQ(a.isolation, Isolation::kGpu);
  EXPECT_EQ(a.trust_domain, "d");
  EXPECT_EQ(a.variants.at(0).accuracy, (Accuracy{900'000, 900'000}));
  EXPECT_EQ(a.retraining, (Retraining{Micros::seconds(200),
                                      Micros::seconds(1),
                                      Micros::seconds(2),
                                      true,
                                      {{0, Micros(1'500'000)}, {1, Micros::seconds(180)}}}));
  EXPECT_EQ(a.arrivals, (Arrivals{CountTrace{{1, 2, 3, 4}}, 1, 90, Decimal(3, 2), 2, true}));
}

TEST(Scenario, EveryFormatOfArrivalsIsRead) {
  const auto source_of = [](std::string_view arrivals) {
    return loaded(changed_scenario({{"{format: rps-text, path: r.txt}", arrivals}})).services.front().arrivals;
  };
  EXPECT_EQ(source_of("{format: csv, path: s.csv}").seconds, 4);
  EXPECT_EQ(source_of("{format: azure-llm, path: llm.csv}").seconds, 1);
  EXPECT_EQ(source_of("{format: azure-functions, path: f.csv, app: app1}"),
            (Arrivals{MinuteTrace{{4, 5}}, 0, 120, Decimal(1), 60}));
  EXPECT_EQ(source_of("{format: azure-functions, path: f.csv, function: f1, from_second: 60}"),
            (Arrivals{MinuteTrace{{3, 4}}, 60, 60, Decimal(1), 60}));
  for (const auto& [name, kind] : std::map<std::string, Generator::Kind>{{"constant", Generator::Kind::kConstant},
                                                                         {"bursty", Generator::Kind::kBursty},
                                                                         {"diurnal", Generator::Kind::kDiurnal}}) {
    EXPECT_EQ(source_of("{format: " + name + ", requests_per_second: 1, seconds: 3, from_second: 7}"),
              (Arrivals{Generator{kind, Decimal(1)}, 7, 3, Decimal(1), 60}));
  }
}

TEST(Scenario, WhatNoSecondOfTheWindowSeesIsForgotten) {
  const auto counts_of = [](std::string_view window) {
    const Scenario scenario = loaded(changed_scenario({{"{format: rps-text, path: r.txt}", window}}));
    return std::get<CountTrace>(scenario.services.front().arrivals.source).counts;
  };
  EXPECT_EQ(counts_of("{format: rps-text, path: r.txt, seconds: 1, smooth_seconds: 1}"),
            (std::vector<std::uint32_t>{1, 2}));
  EXPECT_EQ(counts_of("{format: rps-text, path: r.txt, from_second: 1, seconds: 1, smooth_seconds: 1}"),
            (std::vector<std::uint32_t>{1, 2, 3}));
  EXPECT_EQ(counts_of("{format: rps-text, path: r.txt, seconds: 1}").size(), 4U);
}

TEST(Scenario, TrainingTimesOfMisoAreScaledBySevenG) {
  const Scenario scenario =
      loaded(changed_scenario({{"slo: {latency_ms: 100}",
                                "slo: {latency_ms: 100}\n    retraining: {every_seconds: 9, seconds_on: {format: "
                                "miso, path: miso.csv, model: bert, batch: 2, seconds_7g: 0.0000005}}"}}));
  EXPECT_EQ(scenario.services[0].retraining->time_on, (std::map<int, Micros>{{1, Micros(2)}, {7, Micros(1)}}));
}

TEST(Scenario, PathsAreRelativeToTheFileAndAbsoluteOnesStay) {
  EXPECT_TRUE(load(std::string(kBase), "some/folder/").has_value());
  EXPECT_TRUE(load(std::string(kBase), "/top/").has_value());
  const auto absolute = load(changed_scenario({{"path: r.txt", "path: /top/r.txt"}}), "some/");
  ASSERT_FALSE(absolute.has_value());
  EXPECT_EQ(absolute.error(),
            (Error{ErrorCode::kNotFound,
                   "some/s.yaml:7:40: services[0].arrivals.path: /top/r.txt: cannot read: no such file"}));
}

TEST(Scenario, NothingStandsForNothingWhereThatIsTheDefault) {
  const Scenario scenario = loaded(changed_scenario({
      {"count: 2}", "count: 2, usd_per_gpu_hour: ~}"},
      {"services:", "layout: null\nfrozen:\nservices:"},
      {"    slo: {latency_ms: 100}",
       "    slo: {latency_ms: 100}\n    retraining: ~\n    variants: ~\n    floor: ~\n    pins: ~\n    "
       "changes_per_hour: ~\n"
       "    trust_domain: ~\n    expects: ~"},
  }));
  EXPECT_FALSE(scenario.layout.has_value());
  EXPECT_FALSE(scenario.services[0].retraining.has_value());
}

TEST(Scenario, EmptyListsAreAcceptedOnlyOnRequest) {
  const auto load_empty = [](const std::string& text, bool allows_empty) {
    return load_scenario("s.yaml", MemoryFiles({{"s.yaml", text}}), {.allows_empty = allows_empty});
  };
  const std::string empty = "berth: 1\nfleet: []\nservices: []\n";
  const auto scenario = load_empty(empty, true);
  ASSERT_TRUE(scenario.has_value()) << scenario.error().message;
  EXPECT_EQ(scenario->gpu_count(), 0U);
  EXPECT_TRUE(scenario->services.empty());
  EXPECT_EQ(scenario->simulated_seconds(), 0);
  EXPECT_EQ(load_empty(empty, false).error().message,
            "s.yaml:2:8: fleet: wanted a list of at least one GPU, found an empty list");
  EXPECT_EQ(load_empty("berth: 1\nfleet: [{gpu: A30}]\nservices: []\n", false).error().message,
            "s.yaml:3:11: services: wanted a list of at least one service, found an empty list");
  EXPECT_EQ(load_empty("berth: 1\nfleet: []\n", true).error().message,
            "s.yaml:1:1: services: wanted a list of services, found nothing");
  EXPECT_EQ(load_empty(empty + "layout: [{gpu: 0, slices: []}]\n", true).error().message,
            "s.yaml:4:16: layout[0].gpu: wanted the number of a GPU of the fleet, which is empty, found \"0\"");
}

struct BadScenario {
  std::vector<std::pair<std::string_view, std::string_view>> changes;
  std::string message;  ///< after "s.yaml:"
};

void expect_refused(const std::vector<BadScenario>& cases) {
  for (const BadScenario& bad : cases) {
    const auto scenario = load(changed_scenario(bad.changes));
    ASSERT_FALSE(scenario.has_value()) << bad.message;
    EXPECT_EQ(scenario.error().message, "s.yaml:" + bad.message);
  }
}

TEST(Scenario, MistakesAtTheTopSayWhereAndWhat) {
  expect_refused({
      {{{"berth: 1\n", ""}}, "1:1: berth: wanted 1, found nothing"},
      {{{"berth: 1", "berth: 2"}}, "1:8: berth: wanted 1, found \"2\""},
      {{{"services:", "servces: 1\nservices:"}},
       "3:1: unknown key \"servces\"; did you mean services? (known: berth, fleet, window_seconds, history_seconds, "
       "observation_delay_seconds, planning_seconds, interference, fidelity, objective, changes, frozen, layout, "
       "services, gpus_per_node, scaling, tier_model, tier_sure)"},
      {{{"services:", "fleet: []\nservices:"}}, "3:1: wanted each key once, found \"fleet\" again"},
      {{{"[{gpu: A100-80GB, count: 2}, {gpu: A30}]", "[]"}},
       "2:8: fleet: wanted a list of at least one GPU, found an empty list"},
      {{{"[{gpu: A100-80GB, count: 2}, {gpu: A30}]", ""}},
       "2:7: fleet: wanted a list of at least one GPU, found nothing"},
      {{{"count: 2", "count: 0"}}, "2:33: fleet[0].count: wanted a whole number from 1 to 100000, found \"0\""},
      {{{"count: 2", "count: 1.5"}}, "2:33: fleet[0].count: wanted a whole number from 1 to 100000, found \"1.5\""},
      {{{"count: 2", "count: 100000"}}, "2:42: fleet[1]: wanted at most 100000 GPUs in all, found 100001"},
      {{{"count: 2", "usd_per_gpu_hour: -1"}},
       "2:44: fleet[0].usd_per_gpu_hour: wanted a number from 0 to 1000000000, found \"-1\""},
      {{{"services:", "interference: []\nservices:"}},
       "3:15: interference: wanted a list of at least one factor, found an empty list"},
      {{{"services:", "interference:\nservices:"}},
       "3:14: interference: wanted a list of at least one factor, found nothing"},
      {{{"services:", "interference: [1, 0]\nservices:"}},
       "3:19: interference[1]: wanted a number above 0, at most 1000, found \"0\""},
      {{{"services:", "window_seconds: 0\nservices:"}},
       "3:17: window_seconds: wanted a whole number from 1 to 1000000000, found \"0\""},
      {{{"services:", "window_seconds:\nservices:"}},
       "3:16: window_seconds: wanted a whole number from 1 to 1000000000, found nothing"},
      {{{"services:", "planning_seconds: 1e30\nservices:"}},
       "3:19: planning_seconds: wanted a number from 0 to 1000000000, found \"1e30\""},
      {{{"services:", "scaling: {provision_seconds: 1.5}\nservices:"}},
       "3:30: scaling.provision_seconds: wanted a whole number from 0 to 1000000000, found \"1.5\""},
      {{{"services:", "scaling: {}\nservices:"}},
       "3:10: scaling.provision_seconds: wanted a whole number from 0 to 1000000000, found nothing"},
      {{{"services:", "scaling: {provision: 60}\nservices:"}},
       "3:11: scaling: unknown key \"provision\" (known: provision_seconds)"},
      {{{"services:", "gpus_per_node: 0\nservices:"}},
       "3:16: gpus_per_node: wanted a whole number from 1 to 100000, found \"0\""},
      {{{"services:", "fidelity: exact\nservices:"}}, "3:11: fidelity: wanted requests or rates, found \"exact\""},
      {{{"services:", "changes: {drain_seconds: 1}\nservices:"}},
       "3:11: changes: unknown key \"drain_seconds\"; did you mean create_seconds? (known: destroy_seconds, "
       "create_seconds, "
       "plumbing_seconds)"},
      {{{"services:", "frozen: [{seconds: 1}]\nservices:"}},
       "3:10: frozen[0].from_second: wanted a number of seconds, found nothing"},
      {{{"services:", "frozen: [{from_second: 0, seconds: 0}]\nservices:"}},
       "3:36: frozen[0].seconds: wanted a number above 0, at most 1000000000, found \"0\""},
      {{{"count: 2", "count: 2, usd_per_gpu_hour: 1e9"}, {"seconds: 9", "seconds: 1e9"}},
       "2:8: fleet: wanted a cost of the whole run below 2^62 micro-USD, found 5.55556e+20"},
  });
  EXPECT_EQ(load("- 1\n").error().message, "s.yaml:1:1: wanted a map with berth, fleet and services, found a list");
  EXPECT_EQ(load("berth: 1\nfleet: [{gpu: A30}]\n").error().message,
            "s.yaml:1:1: services: wanted a list of at least one service, found nothing");
}

TEST(Scenario, RulesForGpuModelsAreRead) {
  const Scenario scenario = loaded(
      changed_scenario({{"count: 2}, {gpu: A30}]\n",
                         "count: 2, usd_per_gpu_hour: 3}, {gpu: A30, usd_per_gpu_hour: 1}]\n"
                         "tier_sure: 0.8\ntier_model: r.txt\n"},
                        {"slo: {latency_ms: 100}", "slo: {latency_ms: 100}\n    tier: auto\n    known_on: [A100-80GB]"},
                        {"slo: {latency_ms: 50.5}", "slo: {latency_ms: 50.5}\n    tier: {gpu: A30}"}}));
  ASSERT_EQ(scenario.services.size(), 2U);
  EXPECT_EQ(scenario.services[0].tier, (TierRule{.is_auto = true, .known_on = {"A100-80GB"}}));
  EXPECT_EQ(scenario.services[1].tier, (TierRule{.gpu = "A30-24GB"}));
  EXPECT_EQ(scenario.tiers.sure, Decimal(8, 10));
  EXPECT_EQ(scenario.tiers.forest_file, "r.txt");
  ASSERT_TRUE(scenario.tiers.forest);
  EXPECT_EQ(*scenario.tiers.forest, "1\n2\n3\n4\n");
  const Scenario plain = loaded(std::string(kBase));
  EXPECT_EQ(plain.services[0].tier, TierRule());
  EXPECT_EQ(plain.tiers.sure, Decimal(9, 10));
  EXPECT_FALSE(plain.tiers.forest);
}

TEST(Scenario, MistakesInRulesForGpuModelsNameTheKeys) {
  using Changes = std::vector<std::pair<std::string_view, std::string_view>>;
  const auto with = [](std::string_view line) { return Changes{{"    slo: {latency_ms: 100}\n", line}}; };
  expect_refused({
      {with("    slo: {latency_ms: 5}\n    tier: best\n"),
       "7:11: services[0].tier: wanted auto, or a map {gpu: MODEL}, found \"best\""},
      {with("    slo: {latency_ms: 5}\n    tier: {gpu: T4}\n"),
       "7:17: services[0].tier.gpu: wanted a GPU model of the fleet (A100-80GB, A30-24GB), found \"T4\""},
      {with("    slo: {latency_ms: 5}\n    tier: auto\n"),
       "7:11: services[0].tier: wanted fleet[0].usd_per_gpu_hour, which auto needs for every entry, found none for "
       "A100-80GB"},
      {with("    slo: {latency_ms: 5}\n    tier: {gpu: A30}\n    pins: [{gpu: 0, profile: 1g.10gb, start: 0}]\n"),
       "8:11: services[0].pins: wanted slices on GPUs of the model A30-24GB (services[0].tier.gpu), found one on "
       "gpu-0, of the model A100-80GB"},
      {with("    slo: {latency_ms: 5}\n    known_on: [A30]\n"),
       "7:16: services[0].known_on[0]: wanted a GPU model for which the service's profile has rows, found \"A30\""},
      {with("    slo: {latency_ms: 5}\n    known_on: [A100-80GB, A100-80GB]\n"),
       "7:27: services[0].known_on[1]: wanted a GPU model that is not in the list before, found \"A100-80GB\""},
      {with("    slo: {latency_ms: 5}\n    known_on: []\n"),
       "7:15: services[0].known_on: wanted a list of at least one GPU model, found an empty list"},
      {{{"berth: 1\n", "berth: 1\ntier_sure: 1\n"}}, "2:12: tier_sure: wanted a number above 0, below 1, found \"1\""},
      {{{"    slo: {latency_ms: 100}\n", "    slo: {latency_ms: 5}\n    tier: {gpu: A30}\n"},
        {"berth: 1\n", "berth: 1\nlayout: [{gpu: 1, slices: [{profile: 1g.10gb, start: 0, service: a}]}]\n"}},
       "2:9: layout: wanted slices of a on GPUs of the model A30-24GB (services[0].tier.gpu), found one on gpu-1, of "
       "the model A100-80GB"},
  });
}

constexpr std::string_view kUnpriced = "count: 2}, {gpu: A30}]";
constexpr std::string_view kPriced = "count: 2, usd_per_gpu_hour: 8}, {gpu: A30, usd_per_gpu_hour: 4}]";

TEST(Scenario, RulesForWhatIsReadyAndWhatRunsAreRead) {
  const Scenario scenario = loaded(changed_scenario(
      {{kUnpriced, kPriced},
       {"slo: {latency_ms: 100}",
        "slo: {latency_ms: 100}\n    warm_pool: {min: 1, max: 2, cold_usd: 0.02, usd_per_hour: 9.5}\n"
        "    answer_seconds: 30\n    start_seconds: {runtime: 4, model: 2.5}\n    replicas: {min: 1, max: 4}\n"
        "    run: {serve: {repository: /models, model: m 1}}"},
       {"slo: {latency_ms: 50.5}",
        "slo: {latency_ms: 50.5}\n    warm_pool: {}\n    replicas: {max: 1}\n"
        "    run: {template: echo, parameters: {text: a b, port_0: \"\"}}"}}));
  ASSERT_EQ(scenario.services.size(), 2U);
  const ServiceSpec& a = scenario.services[0];
  EXPECT_EQ(a.start, Micros(6'500'000));
  EXPECT_EQ(a.ready, (Readiness{.warm_pool = WarmPool{.slices_min = 1,
                                                      .slices_max = 2,
                                                      .cold_micro_usd = 20'000,
                                                      .idle_micro_usd_per_hour = 9'500'000},
                                .answer = Micros::seconds(30),
                                .start_of_model = Micros(2'500'000)}));
  EXPECT_EQ(a.running, (Running{.program = ProgramChoice{.template_name = "serve",
                                                         .parameters = {{"model", "m 1"}, {"repository", "/models"}}},
                                .replicas = ReplicaLimits{.slices_min = 1, .slices_max = 4}}));
  const ServiceSpec& b = scenario.services[1];
  EXPECT_EQ(b.ready, (Readiness{.warm_pool = WarmPool(), .answer = {}, .start_of_model = {}}));
  EXPECT_EQ(b.running,
            (Running{.program = ProgramChoice{.template_name = "echo", .parameters = {{"port_0", ""}, {"text", "a b"}}},
                     .replicas = ReplicaLimits{.slices_min = 0, .slices_max = 1}}));
  const Scenario plain = loaded(std::string(kBase));
  EXPECT_EQ(plain.services[0].ready, Readiness());
  EXPECT_EQ(plain.services[0].running, Running());
}

TEST(Scenario, MistakesInWhatIsReadyNameTheKeys) {
  using Changes = std::vector<std::pair<std::string_view, std::string_view>>;
  static std::vector<std::string> lines;
  lines.reserve(32);
  const auto with = [](std::string_view line, bool has_prices = true) {
    const std::string& text = lines.emplace_back("    slo: {latency_ms: 100}\n    " + std::string(line) + "\n");
    Changes changes = {{"    slo: {latency_ms: 100}\n", text}};
    if (has_prices) changes.emplace_back(kUnpriced, kPriced);
    return changes;
  };
  expect_refused({
      {with("warm_pool: {min: -1}"),
       "7:22: services[0].warm_pool.min: wanted a whole number from 0 to 1000000, found \"-1\""},
      {with("warm_pool: {mim: 1}"),
       "7:17: services[0].warm_pool: unknown key \"mim\"; did you mean min? (known: min, max, cold_usd, usd_per_hour)"},
      {with("warm_pool: {min: 2, max: 1}"),
       "7:30: services[0].warm_pool.max: wanted at least 2 (services[0].warm_pool.min), found 1"},
      {with("warm_pool: {cold_usd: 1}", false),
       "7:27: services[0].warm_pool.cold_usd: wanted fleet[0].usd_per_gpu_hour, with which it is compared, found none "
       "for A100-80GB"},
      {with("warm_pool: {usd_per_hour: 1}", false),
       "7:31: services[0].warm_pool.usd_per_hour: wanted fleet[0].usd_per_gpu_hour, with which it is compared, found "
       "none for A100-80GB"},
      {with("warm_pool: {min: 3, usd_per_hour: 0.5}"),
       "7:39: services[0].warm_pool.usd_per_hour: wanted at least 3, which 3 of its cheapest slices cost per hour "
       "(services[0].warm_pool.min), found \"0.5\""},
      {with("replicas: {min: 1, max: 2}\n    warm_pool: {min: 3}"),
       "8:22: services[0].warm_pool.min: wanted at most 2 slices (replicas.max), found 3"},
      {with("replicas: {min: 1, max: 2}\n    warm_pool: {max: 3}"),
       "8:22: services[0].warm_pool.max: wanted at most 2 slices (replicas.max), found 3"},
      {with("replicas: {min: 1}\n    warm_pool: {min: 0}"),
       "8:22: services[0].warm_pool.min: wanted at least 1 slices (replicas.min), found 0"},
      {with("replicas: {min: 1}\n    warm_pool: {max: 0}"),
       "8:22: services[0].warm_pool.max: wanted at least 1 slices (replicas.min), found 0"},
      {with("answer_seconds: 0.05"),
       "7:21: services[0].answer_seconds: wanted at least the latency target, 100 ms (slo.latency_ms), found \"0.05\""},
      {with("start_seconds: {runtime: 3}"),
       "7:20: services[0].start_seconds.model: wanted a number of seconds, found nothing"},
  });
}

TEST(Scenario, MistakesInWhatRunsNameTheKeys) {
  static std::vector<std::string> lines;
  lines.reserve(32);
  const auto with = [](std::string_view line) {
    const std::string& text = lines.emplace_back("    slo: {latency_ms: 100}\n    " + std::string(line) + "\n");
    return std::vector<std::pair<std::string_view, std::string_view>>{{"    slo: {latency_ms: 100}\n", text}};
  };
  expect_refused({
      {with("replicas: {max: 0}"),
       "7:21: services[0].replicas.max: wanted a whole number from 1 to 1000000, found \"0\""},
      {with("replicas: {min: 3, max: 2}"),
       "7:29: services[0].replicas.max: wanted at least 3 (services[0].replicas.min), found 2"},
      {with("run: {template: serve}"),
       "7:21: services[0].run.template: wanted the name of another template; this one is services[0].run.serve, found "
       "\"serve\""},
      {with("run: {serve: {repository: /m}}"),
       "7:18: services[0].run.serve.model: wanted a name of 1 to 4096 printable bytes, found nothing"},
      {with("run: {serve: {repository: /m, model: m}, template: t}"),
       "7:46: services[0].run: unknown key \"template\" (known: serve)"},
      {with("run: {template: t, parameters: {a.b: x}}"),
       "7:36: services[0].run.parameters: wanted keys of letters, digits, _ and -, found \"a.b\""},
      {with("run: {template: t, parameters: {a: [x]}}"),
       "7:40: services[0].run.parameters.a: wanted a text of at most 4096 bytes, without control characters, found a "
       "list"},
  });
}

TEST(Scenario, MistakesInServicesSayWhereAndWhat) {
  const auto with = [](std::string_view line) {
    return std::vector<std::pair<std::string_view, std::string_view>>{{"    slo: {latency_ms: 100}\n", line}};
  };
  expect_refused({
      {{{"name: b", "name: a"}}, "8:11: services[1].name: wanted a name that no other service has, found \"a\""},
      {{{"name: b", "name:"}}, "8:10: services[1].name: wanted a name of 1 to 200 printable bytes, found nothing"},
      {{{"name: b", "nam: b"}},
       "8:5: services[1]: unknown key \"nam\"; did you mean name? (known: name, tenant, profile, slo, batching, drop, "
       "arrivals, start_seconds, accuracy, retraining, variants, weight, floor, pins, changes_per_hour, isolation, "
       "trust_domain, expects, tier, known_on, warm_pool, answer_seconds, run, replicas, pod)"},
      {with(""), "4:5: services[0].slo: wanted a map, found nothing"},
      {with("    slo: {}\n"),
       "6:10: services[0].slo.latency_ms: wanted a number above 0, at most 1000000000, found nothing"},
      {with("    slo: {latency_ms: abc}\n"),
       "6:23: services[0].slo.latency_ms: wanted a number above 0, at most 1000000000, found \"abc\""},
      {with("    slo: {latency_ms: 0.0004}\n"),
       "6:23: services[0].slo.latency_ms: wanted at least a microsecond and at most 1000000000 s, found 4e-07 s"},
      {with("    slo: {latency_ms: 5}\n    batching: {slo_factor: 0}\n"),
       "7:28: services[0].batching.slo_factor: wanted a number above 0, at most 1000000000, found \"0\""},
      {with("    slo: {latency_ms: 5}\n    batching: {max_processes: 0}\n"),
       "7:31: services[0].batching.max_processes: wanted a whole number from 1 to 1024, found \"0\""},
      {with("    slo: {latency_ms: 5}\n    drop: late\n"),
       "7:11: services[0].drop: wanted early or never, found \"late\""},
      {with("    slo: {latency_ms: 5}\n    accuracy: 1.01\n"),
       "7:15: services[0].accuracy: wanted a number from 0 to 1, found \"1.01\""},
      {with("    slo: {latency_ms: 5}\n    accuracy: {before: 0.5}\n"),
       "7:15: services[0].accuracy.after: wanted a number from 0 to 1, found nothing"},
      {with("    slo: {latency_ms: 5}\n    weight: 0\n"),
       "7:13: services[0].weight: wanted a number above 0, at most 1000000000, found \"0\""},
      {with("    slo: {latency_ms: 5, attainment: 1}\n"),
       "6:38: services[0].slo.attainment: wanted a number above 0, below 1, found \"1\""},
      {with("    slo: {latency_ms: 5, attainment: 0}\n"),
       "6:38: services[0].slo.attainment: wanted a number above 0, below 1, found \"0\""},
      {with("    slo: {latency_ms: 5, attainment: 99%}\n"),
       "6:38: services[0].slo.attainment: wanted a number above 0, below 1, found \"99%\""},
      {with("    slo: {latency_ms: 5, attained: 0.9}\n"),
       "6:26: services[0].slo: unknown key \"attained\"; did you mean attainment? (known: latency_ms, attainment)"},
      {with("    slo: {latency_ms: 5}\n    floor: {attainment: 1.5}\n"),
       "7:25: services[0].floor.attainment: wanted a number above 0, at most 1, found \"1.5\""},
      {with("    slo: {latency_ms: 5}\n    expects: {requests_per_second: 0}\n"),
       "7:36: services[0].expects.requests_per_second: wanted a number above 0, at most 10000000, found \"0\""},
      {with("    slo: {latency_ms: 5}\n    expects: 50\n"), "7:14: services[0].expects: wanted a map, found \"50\""},
      {with("    slo: {latency_ms: 5}\n    changes_per_hour: -1\n"),
       "7:23: services[0].changes_per_hour: wanted a whole number from 0 to 1000000000, found \"-1\""},
      {with("    slo: {latency_ms: 5}\n    isolation: none\n"),
       "7:16: services[0].isolation: wanted gpu, mig, mps or timeslice, found \"none\""},
      {with("    slo: {latency_ms: 5}\n    pins: [{gpu: 3, profile: 1g.10gb, start: 0}]\n"),
       "7:18: services[0].pins[0].gpu: wanted a whole number from 0 to 2, found \"3\""},
      {with("    slo: {latency_ms: 5}\n    variants: [{name: x, profile: {format: csv, path: p.csv, model: n}}]\n"),
       "7:69: services[0].variants[0].profile.model: p.csv: wanted rows of the model \"n\", found none"},
      {with("    slo: {latency_ms: 5}\n    retraining: {seconds_on: {1g: 1}}\n"),
       "7:17: services[0].retraining.every_seconds: wanted a number above 0, at most 1000000000, found nothing"},
      {with("    slo: {latency_ms: 5}\n    retraining: {every_seconds: 1, unfinished: keep, seconds_on: {1g: 1}}\n"),
       "7:48: services[0].retraining.unfinished: wanted abandon or continue, found \"keep\""},
      {with("    slo: {latency_ms: 5}\n    retraining: {every_seconds: 1, seconds_on: {5g: 1}}\n"),
       "7:49: services[0].retraining.seconds_on: unknown key \"5g\"; did you mean 1g? (known: 1g, 2g, 3g, 4g, 7g, "
       "full)"},
      {with("    slo: {latency_ms: 5}\n    retraining: {every_seconds: 1, seconds_on: 4}\n"),
       "7:48: services[0].retraining.seconds_on: wanted a map of seconds by slice size, or the format miso, found "
       "\"4\""},
      {with("    slo: {latency_ms: 5}\n    retraining: {every_seconds: 1, seconds_on: {format: miso, path: miso.csv, "
            "model: "
            "bert, batch: 4, seconds_7g: 1}}\n"),
       "7:48: services[0].retraining.seconds_on: wanted a row of the model \"bert\" at batch 4 on a 7g slice in "
       "miso.csv, "
       "found none"},
  });
}

TEST(Scenario, MistakesInFilesThatItNamesSayWhereAndWhat) {
  const auto arrivals = [](std::string_view text) {
    return std::vector<std::pair<std::string_view, std::string_view>>{{"{format: rps-text, path: r.txt}", text}};
  };
  expect_refused({
      {arrivals("{format: rps, path: r.txt}"),
       "7:24: services[0].arrivals.format: wanted azure-llm, azure-functions, rps-text, csv, constant, poisson, bursty "
       "or "
       "diurnal, found \"rps\""},
      {arrivals("{format: rps-text}"),
       "7:15: services[0].arrivals.path: wanted a name of 1 to 4096 printable bytes, found nothing"},
      {arrivals("{format: rps-text, path: none.txt}"),
       "7:40: services[0].arrivals.path: none.txt: cannot read: no such file"},
      {arrivals("{format: rps-text, path: r.txt, app: x}"),
       "7:47: services[0].arrivals: unknown key \"app\" (known: format, from_second, seconds, scale, smooth_seconds, "
       "repeat, path)"},
      {arrivals("{format: poisson, path: r.txt}"),
       "7:33: services[0].arrivals: unknown key \"path\" (known: format, from_second, seconds, scale, smooth_seconds, "
       "repeat, requests_per_second)"},
      {arrivals("{format: poisson, requests_per_second: 1}"),
       "7:15: services[0].arrivals.seconds: wanted a whole number from 1 to 1073741824, found nothing"},
      {arrivals("{format: azure-functions, path: f.csv}"),
       "7:15: services[0].arrivals: wanted either app or function, found neither"},
      {arrivals("{format: azure-functions, path: f.csv, app: a, function: f}"),
       "7:15: services[0].arrivals: wanted either app or function, found both"},
      {arrivals("{format: rps-text, path: r.txt, from_second: 4}"),
       "7:60: services[0].arrivals.from_second: wanted a second of the trace, below 4, found 4"},
      {arrivals("{format: rps-text, path: r.txt, from_second: -1}"),
       "7:60: services[0].arrivals.from_second: wanted a whole number from 0 to 1073741823, found \"-1\""},
      {arrivals("{format: rps-text, path: r.txt, seconds: 0}"),
       "7:56: services[0].arrivals.seconds: wanted a whole number from 1 to 1073741824, found \"0\""},
      {arrivals("{format: rps-text, path: r.txt, scale: 0}"),
       "7:54: services[0].arrivals.scale: wanted a number above 0, at most 1000000000, found \"0\""},
      {arrivals("{format: rps-text, path: r.txt, smooth_seconds: 0}"),
       "7:63: services[0].arrivals.smooth_seconds: wanted a whole number from 1 to 1073741824, found \"0\""},
      {arrivals("{format: rps-text, path: r.txt, repeat: yes}"),
       "7:55: services[0].arrivals.repeat: wanted true or false, found \"yes\""},
      {{{"path: p.csv, model: m", "path: p.csv"}},
       "5:14: services[0].profile.model: wanted a name of 1 to 200 printable bytes, found nothing"},
      {{{"format: csv, path: p.csv", "format: tsv, path: p.csv"}},
       "5:23: services[0].profile.format: wanted parvagpu or csv, found \"tsv\""},
  });
  EXPECT_EQ(load(changed_scenario(arrivals("{format: rps-text, path: blank.txt}"))).error().message.substr(0, 13),
            "blank.txt:2:1");
  EXPECT_EQ(load(changed_scenario({{"path: p.csv", "path: bad.csv"}})).error().message,
            "bad.csv:2:7: profile: wanted a profile of A30-24GB, found \"1g.10gb\"");
}

TEST(Scenario, AnEntryOfTheLayoutMayDescribeSeveralGpus) {
  const auto layout_of = [](const std::string& fleet, const std::string& layout) {
    const Scenario scenario = loaded(changed_scenario(
        {{"[{gpu: A100-80GB, count: 2}, {gpu: A30}]", fleet}, {"services:", "layout: " + layout + "\nservices:"}}));
    return scenario.layout.value_or(std::vector<Holding>{});
  };
  const std::string two = "slices: [{profile: 1g.10gb, start: 6, service: b}, {profile: 3g.40gb, start: 0}]";
  const auto repeated = layout_of("[{gpu: A100-80GB, count: 9}]", "[{gpu: 2, count: 3, " + two + "}]");
  const auto written = layout_of("[{gpu: A100-80GB, count: 9}]",
                                 "[{gpu: 4, " + two + "}, {gpu: 2, " + two + "}, {gpu: 3, count: 1, " + two + "}]");
  EXPECT_EQ(repeated.size(), 6U);
  EXPECT_EQ(repeated, written);

  // Profiles are found by name, whatever their number in a model. Two entries may share a GPU.
  const std::string fleet = "[{gpu: A30, count: 2}, {gpu: A100-80GB}, {gpu: A30}, {gpu: T4}]";
  const auto mixed = layout_of(fleet, "[{gpu: 2, count: 3, slices: [{profile: full, start: 0, service: a}]}]");
  ASSERT_EQ(mixed.size(), 3U);
  EXPECT_EQ(mixed[2], (Holding{{GpuId{4}, 0, ProfileId::full()}, Role::kInference, {ServiceId{0}}}));
  const auto shared = layout_of(fleet,
                                "[{gpu: 1, slices: [{profile: 1g.6gb, start: 3}]}, "
                                "{gpu: 0, count: 2, slices: [{profile: 2g.12gb, start: 0}]}]");
  ASSERT_EQ(shared.size(), 3U);
  EXPECT_EQ(shared[1].slice.gpu, GpuId{1});
  EXPECT_EQ(shared[1].slice.start, 0);
}

TEST(Scenario, ALayoutOfManyGpusIsReadInLinearTime) {  // quadratic work would exceed the test's time limit
  const Scenario scenario =
      loaded(changed_scenario({{"count: 2", "count: 90000"},
                               {"services:",
                                "layout: [{gpu: 0, count: 90000, slices: [{profile: 1g.10gb, start: 0, service: a}, "
                                "{profile: 1g.10gb, start: 1}]}]\nservices:"}}));
  ASSERT_TRUE(scenario.layout.has_value());
  EXPECT_EQ(scenario.layout->size(), 180'000U);
  EXPECT_EQ(scenario.layout->back().slice.gpu, GpuId{89'999});
}

TEST(Scenario, MistakesInTheLayoutSayWhereAndWhat) {
  const auto refused = [](const std::string& gpu, const std::string& slices) {
    const auto scenario =
        load(changed_scenario({{"services:", "layout: [{gpu: " + gpu + ", slices: [" + slices + "]}]\nservices:"}}));
    return scenario.has_value() ? "nothing" : scenario.error().message;
  };
  EXPECT_EQ(refused("3", ""), "s.yaml:3:16: layout[0].gpu: wanted a whole number from 0 to 2, found \"3\"");
  EXPECT_EQ(refused("0", "{profile: 9g, start: 0}").substr(0, 96),
            "s.yaml:3:38: layout[0].slices[0].profile: wanted a profile of A100-80GB (1g.10gb, 1g.10gb+me, 1g");
  EXPECT_EQ(refused("0", "{profile: 1g.10gb, start: 0, service: c}"),
            "s.yaml:3:66: layout[0].slices[0].service: wanted the name of a service, found \"c\"");
  EXPECT_EQ(refused("0", "{profile: 1g.10gb, start: 0, role: serving}"),
            "s.yaml:3:63: layout[0].slices[0].role: wanted inference or retraining, found \"serving\"");
  EXPECT_EQ(refused("0", "{profile: 3g.40gb, start: 1}").substr(0, 43), "s.yaml:3:54: layout[0].slices[0].start: 3g.");
  const std::string clash = refused("0", "{profile: 4g.40gb, start: 0}, {profile: 1g.10gb, start: 3}");
  EXPECT_EQ(clash.substr(0, 43), "s.yaml:3:58: layout[0].slices[1]: gpu-0: 4g");
  EXPECT_NE(clash.find("1g.10gb@3"), std::string::npos) << clash;
  EXPECT_EQ(refused("1, count: 3", ""), "s.yaml:3:26: layout[0].count: wanted a whole number from 1 to 2, found \"3\"");
  EXPECT_EQ(refused("1, count: 0", ""), "s.yaml:3:26: layout[0].count: wanted a whole number from 1 to 2, found \"0\"");
  EXPECT_EQ(refused("1, count: 2", "{profile: 1g.10gb, start: 0}").substr(0, 84),
            "s.yaml:3:48: layout[0].slices[0].profile: wanted a profile of A30-24GB (1g.6gb, 1g.6");
  EXPECT_EQ(refused("1, slices: [{profile: 1g.10gb, start: 3}]}, {gpu: 0, count: 2",
                    "{profile: 2g.20gb, start: 4}, {profile: 4g.40gb, start: 0}")
                .substr(0, 44),
            "s.yaml:3:118: layout[1].slices[1]: gpu-1: 4g");
  EXPECT_NE(refused("0", "{profile: 1g.10gb, start: 3}, {profile: full, start: 0}"), "nothing");
  EXPECT_NE(refused("0", "{profile: full, start: 1}"), "nothing");
}

}  // namespace
}  // namespace berth::scenario
