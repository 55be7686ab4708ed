#include "planner/window/others.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "domain/mig/catalogue.h"
#include "domain/mig/geometry.h"
#include "planner/window/check.h"
#include "planner/window/window.h"

namespace berth::planner {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr int kSlots = 20;

/// Two services on two A100, measured on each size, or as a whole.
class OthersTest : public ::testing::Test {
 protected:
  void SetUp() override {
    scenario_.fleet = {{.model = model_, .count = 2, .usd_per_gpu_hour = {}}};
    for (const char* name : {"a", "b"}) {
      ServiceSpec service;
      service.name = service.tenant = name;
      service.target = Micros(100'000);
      service.target_ms = Decimal(100);
      for (const char* profile : {"1g.10gb", "2g.20gb", "3g.40gb", "7g.80gb", "full"}) {
        service.table.points.push_back({.gpu = "A100-80GB",
                                        .profile = profile,
                                        .batch = 1,
                                        .processes = 1,
                                        .requests_per_second = Decimal(100),
                                        .latency_ms = Decimal(10)});
      }
      scenario_.services.push_back(service);
    }
    moment_.slots = kSlots;
    moment_.retraining.resize(2);
    moment_.outlooks.assign(2, {.loads = std::vector<double>(kSlots + 1, 10), .mean_rate = 10});
  }

  [[nodiscard]] Slice slice(std::uint32_t gpu, const char* profile, int start) const {
    return {.gpu = {gpu}, .start = start, .profile = *mig::find_profile(model_, profile)};
  }

  [[nodiscard]] Problem problem() const { return make_problem(scenario_, make_frame(scenario_), moment_); }

  /// "1g.10gb@3" of the sites on which a service could begin now.
  [[nodiscard]] std::vector<std::string> open_sites(const Problem& problem, std::uint32_t gpu, int service) const {
    std::vector<std::string> open;
    const ModelTerms& terms = problem.models[static_cast<std::size_t>(problem.gpus[gpu].model)];
    for (SiteIndex site; static_cast<std::size_t>(site) < terms.sites.size(); ++site) {
      Schedule schedule{.gpus = std::vector<std::vector<Change>>(problem.gpus.size())};
      schedule.gpus[gpu] = {{.slot = SlotIndex(0), .to = {{.site = site, .service = ServiceIndex(service)}}}};
      if (find_fault(problem, schedule)) continue;
      open.push_back(mig::to_string(model_, {terms.sites[static_cast<std::size_t>(site)].placement()}));
    }
    return open;
  }

  const GpuModel model_ = *mig::find_gpu_model("A100-80GB");
  Scenario scenario_;
  Moment moment_;
};

TEST_F(OthersTest, TheirPlacesAreNotUsedAndTheRestIs) {
  moment_.others = {slice(0, "2g.20gb", 2)};
  const Problem shared = problem();
  EXPECT_THAT(open_sites(shared, 0, 0),
              AllOf(Contains("1g.10gb@0"), Contains("1g.10gb@1"), Contains("1g.10gb@4"), Contains("2g.20gb@0"),
                    Contains("2g.20gb@4"), Contains("3g.40gb@4"), Not(Contains("1g.10gb@2")),
                    Not(Contains("1g.10gb@3")), Not(Contains("2g.20gb@2")), Not(Contains("3g.40gb@0")),
                    Not(Contains("7g.80gb@0")), Not(Contains("full@0"))));
  EXPECT_THAT(open_sites(shared, 1, 0), AllOf(Contains("1g.10gb@2"), Contains("3g.40gb@0"), Contains("full@0")));
}

TEST_F(OthersTest, ASliceOnNoSiteOfTheProblemBlocks) {
  moment_.others = {slice(0, "1g.20gb", 6)};
  EXPECT_THAT(open_sites(problem(), 0, 0), AllOf(Contains("3g.40gb@0"), Contains("2g.20gb@4"),
                                                 Not(Contains("3g.40gb@4")), Not(Contains("1g.10gb@6"))));
}

TEST_F(OthersTest, AWholeGpuOfTheirsHasNoRoom) {
  moment_.others = {{.gpu = {0}, .start = 0, .profile = ProfileId::full()}};
  EXPECT_THAT(open_sites(problem(), 0, 0), IsEmpty());
}

TEST_F(OthersTest, GpusThatAreSharedInOneWayAreOfOneModel) {
  scenario_.fleet[0].count = 4;
  moment_.others = {slice(0, "1g.10gb", 0), slice(1, "1g.10gb", 1), slice(2, "1g.10gb", 0)};
  const Problem shared = problem();
  EXPECT_EQ(shared.gpus[0].model, shared.gpus[2].model);
  EXPECT_NE(shared.gpus[0].model, shared.gpus[1].model);
  EXPECT_EQ(shared.gpus[3].model, 0);
  EXPECT_EQ(shared.models.size(), 3U);
}

TEST_F(OthersTest, WhoMustKnowItsNeighboursDoesNotComeThere) {
  scenario_.services[0].isolation = Isolation::kGpu;
  scenario_.services[1].trust_domain = "ours";
  moment_.others = {slice(0, "1g.10gb", 0)};
  const Problem shared = problem();
  for (const int service : {0, 1}) {
    EXPECT_THAT(open_sites(shared, 0, service), IsEmpty());
    EXPECT_THAT(open_sites(shared, 1, service), Not(IsEmpty()));
  }
}

TEST_F(OthersTest, NothingChangesWhereTheyContradictWhatStandsOrIsPinned) {
  moment_.others = {slice(0, "1g.10gb", 0), slice(1, "1g.10gb", 0)};
  moment_.standing = {{.holding = {.slice = slice(0, "3g.40gb", 4), .services = {{0}}}, .use = 0, .ready_in = {}}};
  EXPECT_EQ(problem().gpus[0].free_from, 0) << "they stand side by side";
  scenario_.services[0].isolation = Isolation::kGpu;
  EXPECT_EQ(problem().gpus[0].free_from, kSlots);
  EXPECT_EQ(problem().gpus[1].free_from, 0);
  scenario_.services[1].pins = {{.slice = slice(1, "3g.40gb", 0)}};
  EXPECT_EQ(problem().gpus[1].free_from, kSlots);
}

TEST_F(OthersTest, TimesByKindGoOn) {
  scenario_.measured_times = {{{.model = model_.name, .profile = "1g.10gb", .action = ActionKind::kCreation},
                               {.median = Micros::seconds(3), .count = 9}}};
  moment_.others = {slice(0, "1g.10gb", 0)};
  const Problem shared = problem();
  for (const ModelTerms& model : shared.models) {
    EXPECT_EQ(model.create_seconds.size(), model.rates.size());
    EXPECT_EQ(model.destroy_seconds.size(), model.rates.size());
    EXPECT_EQ(model.sms.size(), model.rates.size());
  }
  EXPECT_THAT(open_sites(shared, 0, 0), Contains("1g.10gb@1"));
}

}  // namespace
}  // namespace berth::planner
