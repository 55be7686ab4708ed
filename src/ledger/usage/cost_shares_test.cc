#include "ledger/usage/cost_shares.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "domain/mig/catalogue.h"

namespace berth::ledger {
namespace {

using live::UsagePart;
using live::UsageState;
using ::testing::ElementsAre;

class CostSharesTest : public ::testing::Test {
 protected:
  CostSharesTest() { fleet_.fleet = {{.model = *mig::find_gpu_model("A100-80GB"), .usd_per_gpu_hour = {}}}; }

  [[nodiscard]] UsagePart slice(const char* profile, int start, int units, UsageState state,
                                std::vector<std::string> tenants) const {
    UsagePart part{.start = start, .units = units, .state = state};
    part.slice = Slice{.gpu = {0}, .start = start, .profile = *mig::find_profile(fleet_.model_of({0}), profile)};
    for (std::string& tenant : tenants) part.holders.push_back({.tenant = std::move(tenant), .name = "s"});
    return part;
  }
  /// "TENANT ROLE WEIGHT/WHOLE"
  [[nodiscard]] std::vector<std::string> texts(const std::vector<UsagePart>& parts) {
    std::vector<std::string> texts;
    for (const CostShare& share : shares_.of({0}, parts)) {
      texts.push_back(
          fmt::format("{} {} {}/{}", CostShares::payer(share, parts), name_of(share.role), share.weight, share.whole));
    }
    return texts;
  }

  Scenario fleet_;
  CostShares shares_{fleet_};
};

TEST_F(CostSharesTest, DivideByWeight) {
  // Seven compute slices and eight memory slices: 4g weighs 4/7, 3g half, and what is left is idle.
  const std::vector<UsagePart> parts = {slice("4g.40gb", 0, 4, UsageState::kHeld, {"a"}),
                                        {.start = 4, .units = 4, .state = UsageState::kFree}};
  EXPECT_THAT(texts(parts), ElementsAre("a inference 32/56", " idle 24/56"));
}

TEST_F(CostSharesTest, AddUpToOneAlsoAboveTheCapacity) {
  const std::vector<UsagePart> parts = {slice("4g.40gb", 0, 4, UsageState::kHeld, {"a", "b"}),
                                        slice("3g.40gb", 4, 4, UsageState::kChanging, {})};
  EXPECT_THAT(texts(parts), ElementsAre("a inference 32/120", "b inference 32/120", " reconfiguration 56/120"));
}

TEST_F(CostSharesTest, TellOneLayoutFromAnother) {
  const std::vector<UsagePart> lost = {{.start = 0, .units = 8, .state = UsageState::kLost}};
  const std::vector<UsagePart> free = {{.start = 0, .units = 8, .state = UsageState::kFree}};
  std::vector<UsagePart> retraining = {slice("7g.80gb", 0, 8, UsageState::kHeld, {"a"})};
  const std::vector<UsagePart> foreign = {slice("7g.80gb", 0, 8, UsageState::kForeign, {})};
  EXPECT_THAT(texts(lost), ElementsAre(" stranded 56/56"));
  EXPECT_THAT(texts(free), ElementsAre(" idle 56/56"));
  EXPECT_THAT(texts(retraining), ElementsAre("a inference 56/56"));
  retraining.front().role = berth::Role::kRetraining;
  retraining.front().holders.front().tenant = "b";
  EXPECT_THAT(texts(retraining), ElementsAre("b retraining 56/56"));
  EXPECT_THAT(texts(foreign), ElementsAre("foreign reserved 56/56"));
  std::vector<UsagePart> of_tenant = {slice("7g.80gb", 0, 8, UsageState::kHeld, {"a"})};
  of_tenant.front().holders.front().name.clear();
  EXPECT_THAT(texts(of_tenant), ElementsAre("a reserved 56/56")) << "it is no service";
}

}  // namespace
}  // namespace berth::ledger
