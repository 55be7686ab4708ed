/// Power is cut repeatedly at random points of random workloads on one disk, and unsynced data is lost in six ways;
/// sometimes a call fails before. `scripts/soak power` tries more seeds.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <string>
#include <vector>

#include "base/core/rng.h"
#include "base/core/test_cases.h"
#include "edges/sqlite_store/test_workload.h"
#include "edges/sqlite_store/testing/disk_trouble.h"
#include "edges/sqlite_store/testing/simulated_disk.h"

namespace berth::edges {
namespace {

using testing::History;
using testing::Session;
using testing::SimulatedDisk;
using testing::Step;

constexpr std::uint64_t kDisks = berth::testing::by_build(60, 6);
constexpr int kCutsPerDisk = 5;

std::vector<Step> random_steps(Rng& rng) {
  std::vector<Step> steps(1 + rng.below(25));
  for (Step& step : steps) {
    step.is_prune = rng.below(8) == 0;
    step.row_count = static_cast<int>(1 + rng.below(rng.below(4) == 0 ? 8 : 2));  // identifies a batch in flight
    step.has_outcome = rng.below(3) == 0;
    if (rng.below(4) == 0) step.row_bytes = rng.below(12'000);
    step.has_snapshot = rng.below(6) == 0;
    if (rng.below(8) == 0) step.holds_reader = rng.below(2) == 0;
  }
  return steps;
}

/// One call that fails, once.
SimulatedDisk::Fault random_fault(Rng& rng) {
  using testing::DiskTrouble;
  SimulatedDisk::Fault fault = fault_of(static_cast<DiskTrouble>(rng.below(testing::kDiskTroubleCount)));
  fault.nth = 1 + rng.below(60);
  return fault;
}

struct Tally {
  std::array<std::uint64_t, SimulatedDisk::kPowerCutCount> cuts{};
  std::uint64_t acknowledged = 0;
  std::uint64_t refused = 0;
  std::uint64_t lost = 0;
  std::uint64_t doubled = 0;
};

/// Acknowledged rows that are missing or duplicated, except pruned ones.
void count_rows(Session& session, const History& history, Tally& tally) {
  auto reader = session.reader();
  if (!reader) return;
  const auto rows = (*reader)->read(1, 10'000);
  if (!rows) return;
  std::map<std::string, std::uint64_t> found;
  for (const JournalRow& row : *rows) ++found[row.entry.body];
  for (std::size_t i = 0; i < history.rows.size(); ++i) {
    const std::uint64_t count = found[history.rows[i]];
    if (count == 0 && i + 1 >= history.pruned_before) ++tally.lost;
    if (count > 1) ++tally.doubled;
  }
}

/// Empty, or the fault found after the power cut.
std::string try_disk(std::uint64_t seed, Tally& tally) {
  Rng rng = Rng(seed).split("power");
  SimulatedDisk disk(seed);
  Session session(disk.vfs());
  History history;
  for (int cut = 0; cut < kCutsPerDisk; ++cut) {
    if (rng.below(3) == 0) disk.arm(random_fault(rng));
    disk.cut_power_after(disk.change_count() + 1 + rng.below(rng.below(2) == 0 ? 40 : 400));
    testing::run_workload(session, history, random_steps(rng), [&] { return disk.is_cut(); });
    if (!disk.is_cut()) disk.cut_power_after(disk.change_count());
    session.close();
    disk.heal();
    const std::size_t how = rng.below(SimulatedDisk::kPowerCutCount);
    disk.restart(static_cast<SimulatedDisk::PowerCut>(how));
    ++tally.cuts[how];
    std::string problem = testing::check_and_go_on(session, history);
    if (session.open().empty()) count_rows(session, history, tally);
    if (!problem.empty()) return fmt::format("cut {}, way {}: {}", cut + 1, how, problem);
  }
  tally.acknowledged += history.rows.size();
  tally.refused += static_cast<std::uint64_t>(history.refused_count);
  return {};
}

TEST(RandomPowerCut, LosesNothingThatWasAcknowledged) {
  Tally tally;
  std::uint64_t disks = 0;
  for (const std::uint64_t seed : berth::testing::case_seeds(kDisks)) {
    const std::string problem = try_disk(seed, tally);
    EXPECT_EQ(problem, "") << "seed " << seed;
    ++disks;
  }
  std::uint64_t cuts = 0;
  for (const std::uint64_t count : tally.cuts) cuts += count;
  fmt::print(
      "random power cuts: {} disks, {} cuts (kept {}, dropped {}, torn {}, reordered {}, garbage {}, entries lost {}), "
      "{} rows acknowledged, {} batches refused, {} lost, {} doubled\n",
      disks, cuts, tally.cuts[0], tally.cuts[1], tally.cuts[2], tally.cuts[3], tally.cuts[4], tally.cuts[5],
      tally.acknowledged, tally.refused, tally.lost, tally.doubled);
  EXPECT_EQ(tally.lost, 0U);
  EXPECT_EQ(tally.doubled, 0U);
  EXPECT_GE(cuts, disks);
}

}  // namespace
}  // namespace berth::edges
