#include "ledger/usage/detail/cell_uses.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "domain/mig/catalogue.h"
#include "sim/world/testing/scenarios.h"

namespace berth::ledger::detail {
namespace {

using live::UsagePart;
using live::UsageState;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// One GPU of a model, and a cell of it that a test puts together.
class CellUsesTest : public ::testing::Test {
 protected:
  explicit CellUsesTest(const char* model = "A100-80GB") {
    fleet_.fleet = {{.model = *mig::find_gpu_model(model), .usd_per_gpu_hour = {}}};
  }

  UsagePart& add(UsagePart part) {
    part.start = next_unit_;
    next_unit_ += part.units;
    intervals_.push_back(
        {.gpu = {0}, .what = {.part = std::move(part), .from = Instant(), .sequence = 1}, .to = Instant(1)});
    return intervals_.back().what.part;
  }
  /// A slice at the next unit, held by services of one tenant.
  UsagePart& add_slice(const char* profile, const std::vector<std::string>& services = {"a"},
                       UsageState state = UsageState::kHeld) {
    const GpuModel& model = fleet_.model_of({0});
    const ProfileId id = *mig::find_profile(model, profile);
    UsagePart part{.units = id.is_full() ? live::usage_units(model) : model.profiles[id.index].length, .state = state};
    part.slice = Slice{.gpu = {0}, .start = next_unit_, .profile = id};
    part.generation = state == UsageState::kForeign ? 0 : 7;
    for (const std::string& service : services) part.holders.push_back({.tenant = "t", .name = service});
    return add(std::move(part));
  }
  UsagePart& add_free(std::int32_t units) { return add({.units = units}); }

  [[nodiscard]] Result<CellUses> divided() const {
    UsageCell cell{.gpu = {0}, .from = Instant(), .to = Instant(1), .parts = {}};
    for (const auto& interval : intervals_) cell.parts.push_back(&interval);
    return uses_of(cell, fleet_);
  }
  [[nodiscard]] std::int64_t capacity() const { return divided().value().capacity; }
  /// "SLICE ROLE TENANT/SERVICE WEIGHT"
  [[nodiscard]] std::vector<std::string> uses() const {
    std::vector<std::string> texts;
    const CellUses divided = this->divided().value();
    for (const CellUse& use : divided.uses) {
      texts.push_back(fmt::format("{} {} {}/{} {}", use.slice, name_of(use.role), use.tenant, use.service, use.weight));
    }
    return texts;
  }

  Scenario fleet_;
  std::deque<live::UsageInterval> intervals_;
  std::int32_t next_unit_ = 0;
};

class A30Test : public CellUsesTest {
 protected:
  A30Test() : CellUsesTest("A30") {}
};

class WithoutMigTest : public CellUsesTest {
 protected:
  WithoutMigTest() : CellUsesTest("V100-16GB") {}
};

TEST_F(CellUsesTest, SlicesWeighWhatTheirProfilesWeigh) {
  add_slice("4g.40gb");
  add_slice("3g.40gb", {"b"}).role = berth::Role::kRetraining;
  EXPECT_EQ(capacity(), 56);
  EXPECT_THAT(uses(), ElementsAre("gpu-0-4g.40gb-0 inference t/a 32", "gpu-0-3g.40gb-4 retraining t/b 28"));
}

TEST_F(CellUsesTest, HoldersOfASliceHaveEqualShares) {
  add_slice("full", {"a", "b", "c"});
  EXPECT_EQ(capacity(), 3 * 56);
  EXPECT_THAT(uses(), ElementsAre("gpu-0-full-0#1 inference t/a 56", "gpu-0-full-0#2 inference t/b 56",
                                  "gpu-0-full-0#3 inference t/c 56"));
}

TEST_F(CellUsesTest, AllSharesOfACellAreWhole) {
  add_slice("2g.20gb", {"a", "b", "c"});
  add_slice("2g.20gb", {"a", "b"});
  add_slice("3g.40gb", {"c"});
  EXPECT_EQ(capacity(), 6 * 56);
  EXPECT_THAT(uses(), ElementsAre("gpu-0-2g.20gb-0#1 inference t/a 32", "gpu-0-2g.20gb-0#2 inference t/b 32",
                                  "gpu-0-2g.20gb-0#3 inference t/c 32", "gpu-0-2g.20gb-2#1 inference t/a 48",
                                  "gpu-0-2g.20gb-2#2 inference t/b 48", "gpu-0-3g.40gb-4 inference t/c 168"));
}

TEST_F(CellUsesTest, TooManyHoldersAreAnError) {
  for (const std::size_t count : {101U, 103U, 107U}) add_slice("2g.20gb", std::vector<std::string>(count, "a"));
  add_free(2);
  EXPECT_EQ(divided().error().message,
            "gpu-0: wanted slices whose shares are whole in a capacity of at most 1000000, found slices with 101, 103, "
            "107 holders");
}

TEST_F(CellUsesTest, ChangingAndForeignSlicesAreNamed) {
  add_slice("2g.20gb", {"a"}, UsageState::kChanging);
  add_slice("1g.10gb", {}, UsageState::kForeign);
  add_slice("1g.10gb", {}, UsageState::kFree);  // unowned
  add_free(4);
  EXPECT_THAT(uses(),
              ElementsAre("gpu-0-2g.20gb-0 reconfiguration / 16", "gpu-0-1g.10gb-2 reserved foreign/foreign 8"));
}

TEST_F(CellUsesTest, WhatIsLeftOfAWaitingSliceWeighsItsUnits) {
  const Slice waiting{.gpu = {0}, .start = 0, .profile = *mig::find_profile(fleet_.model_of({0}), "3g.40gb")};
  const UsagePart left_of_it{.state = UsageState::kChanging, .slice = waiting, .generation = 9};
  add_slice("1g.10gb", {"a"}, UsageState::kChanging);
  add(left_of_it);
  add_slice("1g.10gb", {"a"}, UsageState::kChanging);
  add(left_of_it);
  add_slice("2g.20gb");
  add_free(2);
  EXPECT_THAT(uses(), ElementsAre("gpu-0-1g.10gb-0 reconfiguration / 8", "gpu-0-3g.40gb-0:1 reconfiguration / 7",
                                  "gpu-0-1g.10gb-2 reconfiguration / 8", "gpu-0-3g.40gb-0:3 reconfiguration / 7",
                                  "gpu-0-2g.20gb-4 inference t/a 16"));
}

TEST_F(CellUsesTest, FreeUnitsAreStrandedWhereNoSliceFits) {
  add_slice("3g.40gb");
  for (int i = 0; i < 3; ++i) add_slice("1g.10gb");
  add_free(1);  // an eighth unit begins no slice
  EXPECT_THAT(uses(), ElementsAre("gpu-0-3g.40gb-0 inference t/a 28", "gpu-0-1g.10gb-4 inference t/a 8",
                                  "gpu-0-1g.10gb-5 inference t/a 8", "gpu-0-1g.10gb-6 inference t/a 8",
                                  "gpu-0:7 stranded / 4"));  // 7, but holders pay for 52 of 56 already
}

TEST_F(CellUsesTest, WhatHoldersPayForIsNotStranded) {
  for (int i = 0; i < 7; ++i) add_slice("1g.10gb");
  add_free(1);
  EXPECT_EQ(uses().size(), 7U);
}

TEST_F(CellUsesTest, UnitsThatFitASliceAreIdle) {
  add_free(1);
  add_slice("1g.10gb");
  add_free(2);
  add_slice("3g.40gb");
  EXPECT_THAT(uses(), ElementsAre("gpu-0-1g.10gb-1 inference t/a 8", "gpu-0-3g.40gb-4 inference t/a 28"));
}

TEST_F(CellUsesTest, SlicesThatNobodyHoldsTakeUnits) {
  add_slice("4g.40gb", {}, UsageState::kFree);
  add_slice("2g.20gb", {}, UsageState::kFree);
  add_slice("1g.10gb", {}, UsageState::kFree);
  add_free(1);
  EXPECT_THAT(uses(), IsEmpty());  // 32 + 16 + 8 are the capacity, and idle
}

TEST_F(CellUsesTest, AFreeGpuIsIdle) {
  add_free(8);
  EXPECT_EQ(capacity(), 56);
  EXPECT_THAT(uses(), IsEmpty());
}

TEST_F(CellUsesTest, ALostGpuIsStrandedAsAWhole) {
  add({.units = 8, .state = UsageState::kLost});
  EXPECT_THAT(uses(), ElementsAre("gpu-0:0-7 stranded / 56"));
}

TEST_F(A30Test, TheCapacityIsTheModels) {
  add_slice("2g.12gb");
  add_slice("1g.6gb", {"b", "c"});
  add_free(1);
  EXPECT_EQ(capacity(), 8);
  EXPECT_THAT(uses(), ElementsAre("gpu-0-2g.12gb-0 inference t/a 4", "gpu-0-1g.6gb-2#1 inference t/b 1",
                                  "gpu-0-1g.6gb-2#2 inference t/c 1"));
}

TEST_F(WithoutMigTest, AGpuWithoutMigIsOneUnit) {
  add_slice("full", {"a", "b"});
  EXPECT_EQ(capacity(), 2000);
  EXPECT_THAT(uses(), ElementsAre("gpu-0-full-0#1 inference t/a 1000", "gpu-0-full-0#2 inference t/b 1000"));
}

TEST_F(WithoutMigTest, ItIsIdleWhileNobodyHasIt) {
  add_free(1);
  EXPECT_THAT(uses(), IsEmpty());
}

}  // namespace
}  // namespace berth::ledger::detail
