/// Every call that a ledger makes to its file fails, and the process is killed or power is cut after each change:
/// acknowledged batches are stored in order, and any other batch completely or not at all.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/core/test_cases.h"
#include "edges/sqlite_store/ledger_file.h"
#include "edges/sqlite_store/testing/simulated_disk.h"
#include "live/chain/field_hash.h"

namespace berth::edges {
namespace {

using testing::SimulatedDisk;
using Call = SimulatedDisk::Call;

constexpr std::uint64_t kLedgerBatches = 5;
/// Slow builds try fewer points.
constexpr std::uint64_t kLedgerStride = berth::testing::by_build(1, 9);

/// Batches of one line or several pieces, each different.
std::string text_of_batch(std::uint64_t number) {
  std::string text = fmt::format("the first of {}\n", number);
  if (number % 2 == 0) {
    for (int line = 0; line < 300; ++line) text += fmt::format("{} {} {}\n", number, line, std::string(100, '.'));
  }
  return text;
}

LedgerSource source_of_batch(std::uint64_t number) { return {.bytes = 7 * number, .lines = number, .hash = {}}; }

/// The outcome of a batch.
enum class Fate : std::uint8_t {
  kUnseen,    ///< never given to an open ledger, or refused by one that continued without it
  kUnknown,   ///< refused by a ledger that was closed, or killed, before it took another one
  kAppended,  ///< acknowledged
};

/// A ledger on a simulated disk, reopened if necessary, and the results that its writer got.
class LedgerOnDisk {
 public:
  explicit LedgerOnDisk(const SimulatedDisk& disk) : disk_(disk) {}

  bool open() {
    if (file_) return true;
    auto opened = LedgerFile::open("/disk/ledger.db", disk_.vfs());
    if (!opened) {
      why_ = opened.error().message;
      return false;
    }
    file_ = *std::move(opened);
    return true;
  }
  void close() {
    file_.reset();
    for (const std::uint64_t number : refused_) fates_[number] = Fate::kUnknown;
    refused_.clear();
  }

  /// Tries to append batches until the disk is cut, each once; it is opened again in the middle.
  void run() {
    for (std::uint64_t i = 0; i < kLedgerBatches && !disk_.is_cut(); ++i) {
      if (i == kLedgerBatches / 2) close();
      append();
    }
  }

  void append() {
    const std::uint64_t number = fates_.size();
    fates_.push_back(Fate::kUnseen);
    const std::string text = text_of_batch(number);
    const auto lines = static_cast<std::uint64_t>(std::ranges::count(text, '\n'));
    if (!open()) return;
    if (file_->append({.text = text, .lines = lines, .run = number + 1, .source = source_of_batch(number)})) {
      fates_[number] = Fate::kAppended;
      refused_.clear();
    } else {
      refused_.push_back(number);
    }
  }

  /// Empty, or the fault found. Resolves unknown outcomes.
  std::string check() {
    if (!open()) return "does not open: " + why_;
    const auto second = LedgerFile::open("/disk/ledger.db", disk_.vfs());
    if (second || second.error().fault != StoreFault::kLocked)
      return "a second writer is not refused: " + (second ? "" : second.error().message);
    std::string found;
    const auto read = file_->for_each_text([&](std::string_view text) {
      found += text;
      return true;
    });
    if (!read) return read.error().message;
    std::string_view rest = found;
    std::vector<LedgerSource> wanted_sources;
    for (std::uint64_t number = 0; number < fates_.size(); ++number) {
      const std::string text = text_of_batch(number);
      const bool is_there = rest.starts_with(text);
      if (is_there) rest.remove_prefix(text.size());
      if (is_there) wanted_sources.push_back(source_of_batch(number));
      if (is_there && fates_[number] == Fate::kUnseen) return fmt::format("batch {} is there", number);
      if (!is_there && fates_[number] == Fate::kAppended) return fmt::format("batch {} is missing", number);
      fates_[number] = is_there ? Fate::kAppended : Fate::kUnseen;
    }
    if (!rest.empty()) return fmt::format("{} bytes are no batch", rest.size());
    const auto head = file_->verify();
    if (!head) return head.error().message;
    return file_->sources() == wanted_sources ? std::string() : "other sources";
  }

  /// The same before and after one more batch, and again after reopening it.
  std::string check_and_go_on() {
    if (std::string problem = check(); !problem.empty()) return problem;
    append();
    if (fates_.back() != Fate::kAppended) return "does not go on";
    if (std::string problem = check(); !problem.empty()) return "later: " + problem;
    close();
    return check();
  }

  [[nodiscard]] std::uint64_t appended() const {
    return static_cast<std::uint64_t>(std::ranges::count(fates_, Fate::kAppended));
  }

 private:
  const SimulatedDisk& disk_;
  std::unique_ptr<LedgerFile> file_;
  std::string why_;
  std::vector<Fate> fates_;             ///< by the number of the batch
  std::vector<std::uint64_t> refused_;  ///< since it was opened, or took a batch
};

/// The action between the fault and the check.
enum class Then : std::uint8_t { kStaysOpen, kIsOpenedAgain, kIsKilled };

struct FaultOfCall {
  Call call;
  int code;
};

const std::vector<FaultOfCall>& faults_of_calls() {
  static const std::vector<FaultOfCall> faults = {{Call::kOpen, SQLITE_CANTOPEN},
                                                  {Call::kRead, SQLITE_IOERR_READ},
                                                  {Call::kWrite, SQLITE_IOERR_WRITE},
                                                  {Call::kWrite, SQLITE_FULL},
                                                  {Call::kTruncate, SQLITE_IOERR_TRUNCATE},
                                                  {Call::kSync, SQLITE_IOERR_FSYNC},
                                                  {Call::kDelete, SQLITE_IOERR_DELETE},
                                                  {Call::kAccess, SQLITE_IOERR_ACCESS},
                                                  {Call::kSize, SQLITE_IOERR_FSTAT},
                                                  {Call::kLock, SQLITE_IOERR_LOCK},
                                                  {Call::kLock, SQLITE_BUSY},
                                                  {Call::kShm, SQLITE_IOERR_SHMMAP},
                                                  {Call::kShm, SQLITE_BUSY}};
  return faults;
}

/// Whether the fault happened; `problem` is the resulting fault, if any.
bool try_ledger_fault(const SimulatedDisk::Fault& fault, Then then, std::string& problem) {
  SimulatedDisk disk(3 * fault.nth + (fault.is_sticky ? 1 : 0));
  LedgerOnDisk ledger(disk);
  disk.arm(fault);
  ledger.run();
  const bool has_fired = disk.has_fired();
  if (then == Then::kIsKilled) disk.cut_power_after(disk.change_count());
  if (then != Then::kStaysOpen) ledger.close();
  disk.heal();
  if (then == Then::kIsKilled) disk.restart_process();
  problem = ledger.check_and_go_on();
  return has_fired;
}

TEST(LedgerFaults, AfterAnyFailureItGoesOn) {
  for (const Then then : {Then::kStaysOpen, Then::kIsOpenedAgain, Then::kIsKilled}) {
    std::uint64_t points = 0;
    for (const FaultOfCall& each : faults_of_calls()) {
      for (const bool is_sticky : {false, true}) {
        bool has_fired = true;
        for (std::uint64_t nth = 1; has_fired && nth < 5000; nth += kLedgerStride) {
          std::string problem;
          has_fired = try_ledger_fault({each.call, nth, each.code, is_sticky}, then, problem);
          ASSERT_TRUE(has_fired || nth > 1) << "there is such a call";
          ASSERT_EQ(problem, "") << fmt::format("call {} code {} nth {}{} then {}", static_cast<int>(each.call),
                                                each.code, nth, is_sticky ? " sticky" : "", static_cast<int>(then));
          ++points;
        }
      }
    }
    fmt::print("ledger faults: {} points\n", points);
  }
}

TEST(LedgerFaults, WhenEveryCallFailsFromSomeMomentOnItGoesOnAfterwards) {
  for (const Then then : {Then::kStaysOpen, Then::kIsOpenedAgain}) {
    bool has_fired = true;
    for (std::uint64_t nth = 1; has_fired && nth < 5000; nth += kLedgerStride) {
      std::string problem;
      has_fired = try_ledger_fault({std::nullopt, nth, SQLITE_IOERR, true}, then, problem);
      ASSERT_EQ(problem, "") << nth;
    }
  }
}

/// The changes of a run, including the creation of the file.
std::uint64_t changes_of_run() {
  SimulatedDisk disk(1);
  LedgerOnDisk ledger(disk);
  ledger.run();
  ledger.close();
  EXPECT_EQ(ledger.appended(), kLedgerBatches);
  return disk.change_count();
}

TEST(LedgerFaults, AKillAfterAnyChangeLosesNothing) {
  const std::uint64_t changes = changes_of_run();
  for (std::uint64_t nth = 0; nth < changes; nth += kLedgerStride) {
    SimulatedDisk disk(nth);
    LedgerOnDisk ledger(disk);
    disk.cut_power_after(nth);
    ledger.run();
    ledger.close();
    disk.restart_process();
    ASSERT_EQ(ledger.check_and_go_on(), "") << nth;
  }
  fmt::print("ledger kills: after each of {} changes\n", changes);
}

TEST(LedgerFaults, APowerCutAfterAnyChangeLosesNothing) {
  const std::uint64_t changes = changes_of_run();
  for (std::size_t way = 0; way < SimulatedDisk::kPowerCutCount; ++way) {
    for (std::uint64_t nth = 0; nth < changes; nth += kLedgerStride) {
      SimulatedDisk disk(nth);
      LedgerOnDisk ledger(disk);
      disk.cut_power_after(nth);
      ledger.run();
      ledger.close();
      disk.restart(static_cast<SimulatedDisk::PowerCut>(way));
      ASSERT_EQ(ledger.check_and_go_on(), "") << "way " << way << ", change " << nth;
    }
  }
}

}  // namespace
}  // namespace berth::edges
