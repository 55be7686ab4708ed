#include "world/slices/slice_places.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "world/slices/testing/scenarios.h"

namespace berth::world {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::slice_at;

class SlicePlacesTest : public ::testing::Test {
 protected:
  SliceIndex placed(const Slice& slice) {
    const SliceIndex index = places_.add(slice);
    places_.place(index);
    return index;
  }
  SliceIndex waiting(const Slice& slice) {
    const SliceIndex index = places_.add(slice);
    places_.wait(index);
    return index;
  }

  const Slice small_ = slice_at(0, "1g.10gb", 0);
  const Slice whole_ = slice_at(0, "full", 0);
  Scenario scenario_ = testing::scenario_of({}, {}, 2);
  SlicePlaces places_{scenario_};
};

TEST_F(SlicePlacesTest, AnIndexIsUsedAgainButNeitherItsSequenceNorItsGeneration) {
  const SliceIndex first = placed(small_);
  places_.remove(first);
  places_.release(first);
  EXPECT_FALSE(places_.are_indices_in_order());
  const std::uint64_t generation = places_.at(first).generation;
  const SliceIndex second = placed(slice_at(1, "2g.20gb", 2));
  EXPECT_EQ(second, first);
  EXPECT_EQ(places_.at(second).sequence, 1U);
  EXPECT_EQ(places_.at(second).generation, generation);
  EXPECT_EQ(places_.at(second).phase, SlicePhase::kWaitingForRoom);
}

TEST_F(SlicePlacesTest, OneThatIsAddedAgainKeepsItsSequenceAndLaterOnesFollow) {
  EXPECT_EQ(places_.at(places_.add_again(small_, 7)).sequence, 7U);
  EXPECT_EQ(places_.at(placed(whole_)).sequence, 8U);
}

TEST_F(SlicePlacesTest, AWholeGpuHasRoomOnlyAlone) {
  EXPECT_TRUE(places_.has_room(whole_));
  const SliceIndex small = placed(small_);
  EXPECT_FALSE(places_.has_room(whole_));
  EXPECT_FALSE(places_.has_room(slice_at(0, "2g.20gb", 0)));
  EXPECT_TRUE(places_.has_room(slice_at(0, "2g.20gb", 2)));
  places_.remove(small);
  placed(whole_);
  EXPECT_FALSE(places_.has_room(small_));
}

TEST_F(SlicePlacesTest, OneThatIsToBeDestroyedTakesRoomButDoesNotStay) {
  const SliceIndex small = placed(small_);
  EXPECT_TRUE(places_.clashes_with_staying(whole_));
  places_.at(small).is_unwanted = true;
  EXPECT_FALSE(places_.clashes_with_staying(whole_));
  EXPECT_FALSE(places_.has_room(whole_));
}

TEST_F(SlicePlacesTest, FindsByPlaceAndProfile) {
  const SliceIndex small = placed(small_);
  const SliceIndex next = waiting(whole_);
  EXPECT_EQ(places_.find(small_), small);
  EXPECT_EQ(places_.find(whole_), next);
  EXPECT_EQ(places_.find_existing(whole_), std::nullopt);
  EXPECT_EQ(places_.find(slice_at(0, "2g.20gb", 0)), std::nullopt);
}

TEST_F(SlicePlacesTest, CandidatesAreThoseWhereRoomMayHaveComeFreeByCreation) {
  const SliceIndex small = placed(small_);
  const SliceIndex second = waiting(slice_at(1, "1g.10gb", 0));
  const SliceIndex third = waiting(whole_);
  EXPECT_THAT(places_.take_candidates(), ElementsAre(second, third));
  EXPECT_THAT(places_.take_candidates(), IsEmpty());
  places_.remove(small);
  EXPECT_THAT(places_.take_candidates(), ElementsAre(third));
}

TEST_F(SlicePlacesTest, AClearedGpuHasNone) {
  const SliceIndex small = placed(small_);
  const SliceIndex next = waiting(whole_);
  const SlicePlaces::Cleared cleared = places_.clear({0});
  EXPECT_THAT(cleared.waiting, ElementsAre(next));
  EXPECT_EQ(cleared.existing.at(0), small);
  EXPECT_TRUE(places_.existing({0}).empty());
  EXPECT_THAT(places_.waiting({0}), IsEmpty());
}

}  // namespace
}  // namespace berth::world
