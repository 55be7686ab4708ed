#include "domain/scenario/scenario_files.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "domain/mig/catalogue.h"
#include "domain/scenario/load.h"

namespace berth::scenario {
namespace {

class MapFiles : public Files {
 public:
  explicit MapFiles(std::map<std::string, std::string> files) : files_(std::move(files)) {}
  [[nodiscard]] Result<std::string> read(const std::string& path) const override {
    const auto found = files_.find(path);
    return found == files_.end() ? fail(ErrorCode::kNotFound, path) : Result<std::string>(found->second);
  }
  [[nodiscard]] Result<std::optional<std::vector<std::string>>> list(const std::string& /*path*/) const override {
    return std::optional<std::vector<std::string>>();
  }

 private:
  std::map<std::string, std::string> files_;
};

ServiceSpec service_of(const std::string& name) {
  ServiceSpec service;
  service.name = name;
  service.tenant = "t";
  service.target_ms = Decimal(1005, 10);
  service.target = Micros(100'500);
  service.table = {.model = "m", .points = {{"A30-24GB", "1g.6gb", 8, 1, Decimal(1, 10), Decimal(20)}}};
  service.arrivals = {.source = CountTrace{{0, 3, 0, 12, 0}}, .from_second = 2, .seconds = 3};
  return service;
}

/// A service with every field set.
ServiceSpec full_service(const std::string& name, const GpuModel& model) {
  ServiceSpec service = service_of(name);
  service.batching = {.slo_factor = Decimal(7, 10), .processes_max = 2};
  service.drop = DropRule::kNever;
  service.start = Micros(1'234'567);
  service.accuracy = {.before_micro = 700'001, .after_micro = 900'002};
  service.retraining =
      Retraining{.every = Micros::seconds(60), .offset = Micros(7'654'321), .swap = Micros(5), .time_on = {}};
  service.retraining->time_on = {{0, Micros::seconds(9)}, {1, Micros::seconds(20)}};
  service.variants = {{.name = "int8", .table = service.table, .accuracy = {.before_micro = 1, .after_micro = 2}}};
  service.weight = Decimal(5, 2);
  service.floor_attainment = Decimal(95, 100);
  service.expects = Decimal(17);
  service.pins = {{.slice = {.gpu = {1}, .start = 3, .profile = *mig::find_profile(model, "1g.6gb")}}};
  service.changes_per_hour = 20;
  service.isolation = Isolation::kMps;
  service.trust_domain = "red";
  return service;
}

Scenario full_scenario() {
  Scenario scenario;
  const GpuModel model = *mig::find_gpu_model("A30-24GB");
  scenario.fleet = {{.model = model, .count = 2, .usd_per_gpu_hour = Decimal(11, 10)},
                    {.model = *mig::find_gpu_model("L4-24GB"), .count = 1, .usd_per_gpu_hour = std::nullopt}};
  scenario.window_seconds = 77;
  scenario.history_seconds = 5;
  scenario.observation_delay = Micros(1'500'000);
  scenario.planning = Micros(250'000);
  scenario.interference = {Decimal(1), Decimal(11, 10)};
  scenario.fidelity = Fidelity::kRates;
  scenario.objective = Objective::kRequests;
  scenario.changes = {.destroy = Micros(1), .create = Micros(2), .plumbing = Micros(3)};
  scenario.frozen = {{.from = Instant(1'000'001), .until = Instant(2'000'000)}};
  scenario.gpus_per_node = 2;
  scenario.provision_seconds = 60;
  scenario.services = {full_service("t.a \"x\": #", model), service_of("T.A \"X\": #"), service_of("t.c")};
  const ProfileId small = *mig::find_profile(model, "1g.6gb");
  scenario.layout = {
      {.slice = {.gpu = {0}, .start = 0, .profile = small}, .role = Role::kRetraining, .services = {{0}}},
      {.slice = {.gpu = {0}, .start = 1, .profile = small}, .services = {}},
      {.slice = {.gpu = {1}, .start = 0, .profile = small}, .services = {{2}}}};
  return scenario;
}

/// Without the tables' models, which take the names of files when written.
ServiceSpec without_models(ServiceSpec service) {
  service.table.model.clear();
  for (Variant& variant : service.variants) variant.table.model.clear();
  return service;
}

TEST(ScenarioFiles, AreReadAsTheSameScenario) {
  const Scenario scenario = full_scenario();
  const auto files = scenario_files(scenario, {"a remark\nin two lines"});
  EXPECT_EQ(files.at("scenario.yaml").substr(0, 40), "# a remark in two lines\nberth: 1\nfleet:\n");
  const auto read = scenario::load_scenario("scenario.yaml", MapFiles(files));
  ASSERT_TRUE(read.has_value()) << read.error().message;
  ASSERT_EQ(read->services.size(), scenario.services.size());
  for (std::size_t index = 0; index < scenario.services.size(); ++index) {
    EXPECT_TRUE(without_models(read->services[index]) == without_models(scenario.services[index])) << index;
  }
  ASSERT_EQ(read->fleet.size(), 2U);
  EXPECT_EQ(read->fleet[0].usd_per_gpu_hour, scenario.fleet[0].usd_per_gpu_hour);
  EXPECT_EQ(read->fleet[1].usd_per_gpu_hour, std::nullopt);
  EXPECT_EQ(read->gpu_count(), 3U);
  EXPECT_EQ(read->window_seconds, scenario.window_seconds);
  EXPECT_EQ(read->history_seconds, scenario.history_seconds);
  EXPECT_EQ(read->observation_delay, scenario.observation_delay);
  EXPECT_EQ(read->planning, scenario.planning);
  EXPECT_EQ(read->interference, scenario.interference);
  EXPECT_EQ(read->fidelity, scenario.fidelity);
  EXPECT_EQ(read->objective, scenario.objective);
  EXPECT_EQ(read->changes, scenario.changes);
  EXPECT_EQ(read->frozen, scenario.frozen);
  EXPECT_EQ(read->gpus_per_node, scenario.gpus_per_node);
  EXPECT_EQ(read->provision_seconds, scenario.provision_seconds);
  EXPECT_EQ(read->layout, scenario.layout);
}

TEST(ScenarioFiles, NoTwoServicesShareAFile) {
  // Three files of profiles and one of a variant, three of arrivals, and the scenario.
  EXPECT_EQ(scenario_files(full_scenario(), {}).size(), 8U);
}

}  // namespace
}  // namespace berth::scenario
