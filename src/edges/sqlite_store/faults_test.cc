/// Every call that a workload makes to its files fails once, or from then on. After healing, acknowledged data is
/// stored exactly once, refused data is not, and the store keeps working, with and without being reopened.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <string>
#include <vector>

#include "edges/sqlite_store/test_workload.h"
#include "edges/sqlite_store/testing/simulated_disk.h"

namespace berth::edges {
namespace {

using testing::History;
using testing::kStride;
using testing::Session;
using testing::SimulatedDisk;
using Call = SimulatedDisk::Call;

struct FaultKind {
  const char* name;
  Call call;
  std::vector<int> codes;
};

const std::vector<FaultKind>& fault_kinds() {
  static const std::vector<FaultKind> kinds = {
      {"open", Call::kOpen, {SQLITE_CANTOPEN, SQLITE_IOERR}},
      {"read", Call::kRead, {SQLITE_IOERR_READ}},
      {"write", Call::kWrite, {SQLITE_IOERR_WRITE, SQLITE_FULL}},
      {"truncate", Call::kTruncate, {SQLITE_IOERR_TRUNCATE}},
      {"sync", Call::kSync, {SQLITE_IOERR_FSYNC, SQLITE_FULL}},
      {"delete", Call::kDelete, {SQLITE_IOERR_DELETE}},
      {"access", Call::kAccess, {SQLITE_IOERR_ACCESS}},
      {"size", Call::kSize, {SQLITE_IOERR_FSTAT}},
      {"lock", Call::kLock, {SQLITE_IOERR_LOCK, SQLITE_BUSY}},
      {"shm", Call::kShm, {SQLITE_IOERR_SHMMAP, SQLITE_BUSY}},
  };
  return kinds;
}

constexpr auto kNeverOver = [] { return false; };

/// The action between the fault and the check.
enum class After : std::uint8_t {
  kGoOn,             ///< the store stays open
  kOpenAgain,        ///< it is closed while calls still fail, and opened again
  kKilled,           ///< the process ends right after the first refusal
  kPowerCut,         ///< power is cut at the end of the workload, with the store open
  kRefusalPowerCut,  ///< power is cut right after the first refusal
};

bool ends_with_refusal(After after) { return after == After::kKilled || after == After::kRefusalPowerCut; }

bool is_abrupt(After after) { return after != After::kGoOn && after != After::kOpenAgain; }

struct TriedFault {
  bool has_fired = false;
  int refused_count = 0;
  std::string problem;
};

TriedFault try_fault(const SimulatedDisk::Fault& fault, After after) {
  SimulatedDisk disk(7 * fault.nth + (fault.is_sticky ? 1 : 0));
  Session session(disk.vfs());
  History history;
  disk.arm(fault);
  testing::run_workload(session, history, testing::workload(),
                        [&] { return ends_with_refusal(after) && history.refused_count > 0; });
  if (is_abrupt(after)) disk.cut_power_after(disk.change_count());
  if (after != After::kGoOn) session.close();
  TriedFault tried{.has_fired = disk.has_fired(), .refused_count = history.refused_count, .problem = {}};
  disk.heal();
  if (after == After::kKilled) disk.restart_process();
  if (is_abrupt(after) && after != After::kKilled) disk.restart(static_cast<SimulatedDisk::PowerCut>(fault.nth % 4));
  if (fault.is_sticky && !fault.call && after != After::kGoOn) history.unknown = history.first_refused;
  tried.problem = testing::check_and_go_on(session, history);
  return tried;
}

/// The calls of a run without faults, in which `try_fault` would try them.
std::vector<std::uint64_t> call_counts(After after) {
  SimulatedDisk disk(1);
  Session session(disk.vfs());
  History history;
  testing::run_workload(session, history, testing::workload(), kNeverOver);
  EXPECT_EQ(history.refused_count, 0);
  if (after == After::kOpenAgain) session.close();
  std::vector<std::uint64_t> counts;
  for (const FaultKind& kind : fault_kinds()) counts.push_back(disk.count(kind.call));
  EXPECT_EQ(testing::check_and_go_on(session, history), "");
  return counts;
}

/// Tries every n; reports the first problems.
void sweep(const FaultKind& kind, std::uint64_t count, After after) {
  std::uint64_t points = 0;
  int refused = 0;
  int problems = 0;
  for (const int code : kind.codes) {
    for (const bool is_sticky : {false, true}) {
      // A device that refuses all syncs, or all writes, until the end may keep a refused batch.
      if (is_abrupt(after) && is_sticky) continue;
      // The error code affects the report, not what is lost.
      if (code != kind.codes.front() && (after != After::kGoOn || is_sticky)) continue;
      for (std::uint64_t nth = 1; nth <= count && problems < 5; nth += kStride) {
        const TriedFault tried = try_fault({kind.call, nth, code, is_sticky}, after);
        ++points;
        refused += tried.refused_count;
        EXPECT_TRUE(tried.has_fired) << kind.name << " " << nth;
        if (tried.problem.empty()) continue;
        ++problems;
        ADD_FAILURE() << fmt::format("{} {} code {}{}: {}", kind.name, nth, code, is_sticky ? " sticky" : "",
                                     tried.problem);
      }
    }
  }
  fmt::print("faults: {:8} points {:5}, all fired; batches refused {:5}\n", kind.name, points, refused);
}

void sweep_all(After after) {
  const std::vector<std::uint64_t> counts = call_counts(after);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    EXPECT_GT(counts[i], 0U) << fault_kinds()[i].name;
    sweep(fault_kinds()[i], counts[i], after);
  }
}

TEST(Faults, AStoreThatStaysOpenGoesOn) { sweep_all(After::kGoOn); }

TEST(Faults, AStoreThatIsOpenedAgainGoesOn) { sweep_all(After::kOpenAgain); }

TEST(Faults, AKillRightAfterARefusalChangesNothing) { sweep_all(After::kKilled); }

TEST(Faults, APowerCutRightAfterARefusalChangesNothing) { sweep_all(After::kRefusalPowerCut); }

TEST(Faults, APowerCutLaterChangesNothing) { sweep_all(After::kPowerCut); }

TEST(Faults, WhenEveryCallFailsFromSomeMomentOnTheStoreGoesOnAfterwards) {
  std::uint64_t count = 0;
  for (const std::uint64_t calls : call_counts(After::kGoOn)) count += calls;
  // A batch whose sync was refused may be found then if the store is opened again; it is stored completely or not at
  // all.
  for (const After after : {After::kGoOn, After::kOpenAgain}) {
    for (std::uint64_t nth = 1; nth <= count; nth += kStride) {
      const TriedFault tried = try_fault({std::nullopt, nth, SQLITE_IOERR, true}, after);
      ASSERT_EQ(tried.problem, "") << nth;
    }
  }
  fmt::print("faults: every call of {} and all after it\n", count);
}

}  // namespace
}  // namespace berth::edges
