/// Power is cut after every change that a workload makes to its files, and unsynced data is lost in six ways.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "base/core/test_cases.h"
#include "edges/sqlite_store/test_workload.h"
#include "edges/sqlite_store/testing/simulated_disk.h"

namespace berth::edges {
namespace {

using testing::History;
using testing::kStride;
using testing::Session;
using testing::SimulatedDisk;

constexpr std::array<const char*, SimulatedDisk::kPowerCutCount> kNames = {"kept",      "dropped", "torn",
                                                                           "reordered", "garbage", "entries lost"};

struct TriedCut {
  bool is_cut = false;
  bool is_noted = false;  ///< whether the torn end of the WAL was noted
  std::string problem;
};

TriedCut try_power_cut(std::uint64_t changes, SimulatedDisk::PowerCut how, std::uint64_t seed) {
  SimulatedDisk disk(seed);
  Session session(disk.vfs());
  History history;
  disk.cut_power_after(changes);
  testing::run_workload(session, history, testing::workload(), [&] { return disk.is_cut(); });
  session.close();
  TriedCut tried{.is_cut = disk.is_cut(), .is_noted = false, .problem = {}};
  disk.restart(how);
  tried.problem = testing::check_and_go_on(session, history);
  tried.is_noted = !session.notes().empty();
  return tried;
}

std::uint64_t change_count() {
  SimulatedDisk disk(1);
  Session session(disk.vfs());
  History history;
  testing::run_workload(session, history, testing::workload(), [] { return false; });
  session.close();
  return disk.change_count();
}

TEST(PowerCut, WhatWasAcknowledgedIsThereAndABatchInFlightWholeOrNotAtAll) {
  const std::uint64_t changes = change_count();
  for (std::size_t how = 0; how < SimulatedDisk::kPowerCutCount; ++how) {
    std::uint64_t points = 0;
    std::uint64_t noted = 0;
    const bool is_random = how >= 2 && how <= 4;
    for (const std::uint64_t seed : berth::testing::case_seeds(is_random ? berth::testing::by_build(2, 1) : 1)) {
      for (std::uint64_t nth = 1; nth <= changes; nth += kStride) {
        const TriedCut tried = try_power_cut(nth, static_cast<SimulatedDisk::PowerCut>(how), seed);
        ASSERT_TRUE(tried.is_cut);
        ASSERT_EQ(tried.problem, "") << kNames[how] << " after change " << nth << ", seed " << seed;
        ++points;
        if (tried.is_noted) ++noted;
      }
    }
    fmt::print("power cuts: {:12} points {:5}, torn ends noted {:4}\n", kNames[how], points, noted);
  }
}

}  // namespace
}  // namespace berth::edges
