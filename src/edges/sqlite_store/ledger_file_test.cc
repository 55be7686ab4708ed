#include "edges/sqlite_store/ledger_file.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/core/rng.h"
#include "base/core/test_cases.h"
#include "edges/sqlite_store/detail/connection.h"
#include "edges/sqlite_store/detail/ledger_tables.h"
#include "edges/sqlite_store/test_scratch.h"
#include "live/chain/field_hash.h"

namespace berth::edges {
namespace {

struct LedgerScratch : testing::Scratch {
  [[nodiscard]] std::string file() const { return (path / "ledger.db").string(); }
  void run(const char* sql) const {
    auto connection = detail::Connection::open(file(), detail::OpenMode::kWrite, "");
    ASSERT_TRUE(connection);
    const auto done = connection->execute(sql, "try");
    ASSERT_TRUE(done) << done.error().message;
  }
  [[nodiscard]] std::unique_ptr<LedgerFile> open() const {
    auto opened = LedgerFile::open(file());
    EXPECT_TRUE(opened) << (opened ? "" : opened.error().message);
    return opened ? *std::move(opened) : nullptr;
  }
  /// Of every file, by name.
  [[nodiscard]] std::map<std::string, std::string> bytes() const {
    std::map<std::string, std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(path)) {
      std::ifstream stream(entry.path(), std::ios::binary);
      files[entry.path().filename().string()].assign(std::istreambuf_iterator<char>(stream), {});
    }
    return files;
  }
};

/// A text of `count` lines of different lengths, some of them empty.
std::string lines_of(std::uint64_t batch, std::uint64_t count) {
  std::string text;
  for (std::uint64_t line = 0; line < count; ++line) {
    if (line % 7 != 3) text += fmt::format("batch {} line {} {}", batch, line, std::string(line * 37 % 400, '.'));
    text += '\n';
  }
  return text;
}

LedgerSource source_of(std::string_view text, std::uint64_t lines) {
  return {.bytes = text.size() - 1, .lines = lines, .hash = chain::sha256(text.substr(0, text.size() - 1))};
}

LedgerBatch ledger_batch_of(std::string_view text, std::uint64_t run) {
  const auto lines = static_cast<std::uint64_t>(std::ranges::count(text, '\n'));
  return {.text = text, .lines = lines, .run = run, .source = source_of(text, lines)};
}

std::string all_text(LedgerFile& file) {
  std::string all;
  const auto read = file.for_each_text([&](std::string_view text) {
    EXPECT_TRUE(text.ends_with('\n'));
    all += text;
    return true;
  });
  EXPECT_TRUE(read) << (read ? "" : read.error().message);
  return all;
}

/// Every line by its position, also for one that is behind the last.
void expect_lines_of(LedgerFile& file, const std::string& all) {
  for (std::size_t at = 0; at < all.size();) {
    const std::size_t end = all.find('\n', at);
    ASSERT_EQ(file.line_at(at), all.substr(at, end - at)) << at;
    at = end + 1;
  }
}

TEST(LedgerFile, WhatIsAppendedIsReadBackInOrder) {
  const LedgerScratch scratch;
  std::string all;
  LedgerHead head;
  {
    const auto file = scratch.open();
    EXPECT_EQ(file->head(), LedgerHead());
    EXPECT_EQ(file->verify(), LedgerHead());
    EXPECT_EQ(all_text(*file), "");
    for (const std::uint64_t lines : {1U, 2U, 500U, 40U}) {
      const std::string text = lines_of(lines, lines);
      ASSERT_TRUE(file->append(ledger_batch_of(text, 1)));
      all += text;
      EXPECT_EQ(all_text(*file), all);
    }
    head = file->head().value();
    EXPECT_EQ(head.batches, 4U);
    EXPECT_EQ(head.lines, 543U);
    EXPECT_EQ(head.bytes, all.size());
    EXPECT_EQ(file->verify(), head);
  }
  const auto again = scratch.open();
  EXPECT_EQ(again->head(), head);
  EXPECT_EQ(all_text(*again), all);
  const std::string more = lines_of(5, 9);
  ASSERT_TRUE(again->append(ledger_batch_of(more, 2)));
  EXPECT_EQ(all_text(*again), all + more);
  EXPECT_EQ(again->verify(), again->head());
}

TEST(LedgerFile, TheHashIsThatOfTheBatchesWhateverFileTheyAreIn) {
  const LedgerScratch one;
  const LedgerScratch two;
  const LedgerScratch split;
  const std::string text = lines_of(1, 20);
  ASSERT_TRUE(one.open()->append(ledger_batch_of(text, 1)));
  ASSERT_TRUE(two.open()->append(ledger_batch_of(text, 1)));
  EXPECT_EQ(one.open()->head(), two.open()->head());
  ASSERT_TRUE(split.open()->append(ledger_batch_of(text.substr(0, text.find('\n') + 1), 1)));
  ASSERT_TRUE(split.open()->append(ledger_batch_of(text.substr(text.find('\n') + 1), 1)));
  EXPECT_EQ(split.open()->head()->bytes, one.open()->head()->bytes);
  EXPECT_NE(split.open()->head()->hash, one.open()->head()->hash);
}

TEST(LedgerFile, KeepsTheLastSourceOfEachRun) {
  const LedgerScratch scratch;
  const std::string text = lines_of(1, 30);
  const LedgerSource first = source_of(text, 30);
  const LedgerSource second{.bytes = 70, .lines = 7, .hash = chain::sha256("another file")};
  const auto file = scratch.open();
  EXPECT_EQ(file->sources(), std::vector<LedgerSource>());
  EXPECT_EQ(file->next_run(), 1U);
  ASSERT_TRUE(file->append({.text = "a\n", .lines = 1, .run = 1, .source = source_of("a\n", 1)}));
  ASSERT_TRUE(file->append({.text = text, .lines = 30, .run = 1, .source = first}));
  EXPECT_EQ(file->next_run(), 2U);
  ASSERT_TRUE(file->append({.text = "b\n", .lines = 1, .run = 4, .source = second}));
  EXPECT_EQ(file->next_run(), 5U);
  EXPECT_EQ(file->sources(), (std::vector<LedgerSource>{first, second}));
  EXPECT_EQ((*LedgerFile::open_reader(scratch.file()))->sources(), (std::vector<LedgerSource>{first, second}));
}

TEST(LedgerFile, FindsALineByItsPositionAtEveryBorder) {
  const LedgerScratch scratch;
  const auto file = scratch.open();
  EXPECT_EQ(file->line_at(0).error().fault, StoreFault::kFailed);
  std::string all;
  for (std::uint64_t batch = 0; batch < 3; ++batch) {
    const std::string text = lines_of(batch, 400);  // several pieces
    ASSERT_GT(text.size(), 3 * detail::kLedgerPieceBytes);
    ASSERT_TRUE(file->append(ledger_batch_of(text, 1)));
    all += text;
  }
  expect_lines_of(*file, all);
  expect_lines_of(**LedgerFile::open_reader(scratch.file()), all);
  EXPECT_EQ(file->line_at(all.size()).error().fault, StoreFault::kFailed);
  EXPECT_EQ(file->line_at(UINT64_MAX).error().fault, StoreFault::kFailed);
  const auto inside = file->line_at(1);
  ASSERT_FALSE(inside);
  EXPECT_NE(inside.error().message.find("no line begins at byte 1"), std::string::npos) << inside.error().message;
}

/// Lines as long as the longest piece, a byte shorter and longer, and much longer.
TEST(LedgerFile, ALineOfAnyLengthIsInOnePiece) {
  const LedgerScratch scratch;
  const auto file = scratch.open();
  std::string all;
  for (const std::size_t bytes : {detail::kLedgerPieceBytes - 1, detail::kLedgerPieceBytes,
                                  detail::kLedgerPieceBytes + 1, 5 * detail::kLedgerPieceBytes}) {
    const std::string text = "before\n" + std::string(bytes - 1, 'x') + "\nbehind\n";
    ASSERT_TRUE(file->append(ledger_batch_of(text, 1)));
    all += text;
  }
  EXPECT_EQ(all_text(*file), all);
  expect_lines_of(*file, all);
  EXPECT_EQ(file->verify(), file->head());
}

TEST(LedgerFile, APieceFitsIntoOnePage) {
  const LedgerScratch scratch;
  {
    const auto file = scratch.open();
    ASSERT_TRUE(file->append(ledger_batch_of(std::string(detail::kLedgerPieceBytes - 1, 'x') + '\n', 1)));
  }
  auto connection = detail::Connection::open(scratch.file(), detail::OpenMode::kRead, "");
  ASSERT_TRUE(connection);
  EXPECT_EQ(connection->integer("PRAGMA page_size", "look"), detail::kLedgerPageBytes);
  EXPECT_EQ(connection->integer("PRAGMA page_count", "look"), 4) << "the schema and three tables, nothing beside them";
}

TEST(LedgerFile, AVisitCanEndItAndReadLines) {
  const LedgerScratch scratch;
  const auto file = scratch.open();
  const std::string text = lines_of(1, 600);
  ASSERT_TRUE(file->append(ledger_batch_of(text, 1)));
  std::string seen;
  int visits = 0;
  const auto read = file->for_each_text([&](std::string_view piece) {
    EXPECT_EQ(file->line_at(0), text.substr(0, text.find('\n')));
    seen += piece;
    return ++visits < 2;
  });
  EXPECT_TRUE(read);
  EXPECT_EQ(visits, 2);
  EXPECT_TRUE(text.starts_with(seen));
  EXPECT_LT(seen.size(), text.size());
}

/// Opens the file for writing in a separate process, as a process's locks do not exclude itself. Returns the result as
/// a number.
int fault_in_another_process(const std::string& path) {
  const pid_t child = ::fork();
  if (child == 0) {
    const auto opened = LedgerFile::open(path);
    ::_exit(opened ? 100 : static_cast<int>(opened.error().fault));
  }
  int status = 0;
  if (::waitpid(child, &status, 0) != child || !WIFEXITED(status)) return -1;
  return WEXITSTATUS(status);
}

TEST(LedgerFile, HasOneWriterAtATime) {
  const LedgerScratch scratch;
  auto first = scratch.open();
  const auto expect_locked = [&] {
    const auto second = LedgerFile::open(scratch.file());
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().fault, StoreFault::kLocked) << second.error().message;
    EXPECT_EQ(fault_in_another_process(scratch.file()), static_cast<int>(StoreFault::kLocked));
  };
  expect_locked();
  const std::string text = lines_of(1, 10'000);
  for (int batch = 0; batch < 12; ++batch) ASSERT_TRUE(first->append(ledger_batch_of(text, 1)));  // and a checkpoint
  expect_locked();
  EXPECT_TRUE(LedgerFile::open_reader(scratch.file()));
  expect_locked();
  first.reset();
  EXPECT_EQ(fault_in_another_process(scratch.file()), 100);
  const auto next = scratch.open();
  ASSERT_TRUE(next);
  EXPECT_EQ(next->head()->batches, 12U);
}

TEST(LedgerFile, AWriterThatIsKilledLeavesNoLock) {
  const LedgerScratch scratch;
  const std::string text = lines_of(1, 300);
  const pid_t child = ::fork();
  if (child == 0) {
    auto file = LedgerFile::open(scratch.file());
    if (!file || !(*file)->append(ledger_batch_of(text, 1))) ::_exit(1);
    static_cast<void>(::kill(::getpid(), SIGKILL));
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(all_text(**LedgerFile::open_reader(scratch.file())), text);
  const auto file = scratch.open();
  ASSERT_TRUE(file);
  EXPECT_EQ(all_text(*file), text);
}

TEST(LedgerFile, ReadersWorkBesideAWriter) {
  const LedgerScratch scratch;
  EXPECT_EQ(LedgerFile::open_reader(scratch.file()).error().fault, StoreFault::kFailed);
  EXPECT_TRUE(std::filesystem::is_empty(scratch.path));
  const auto writer = scratch.open();
  const auto reader = LedgerFile::open_reader(scratch.file());
  ASSERT_TRUE(reader) << reader.error().message;
  EXPECT_EQ((*reader)->head(), LedgerHead());
  const std::string text = lines_of(1, 100);
  const std::string more = lines_of(2, 100);
  ASSERT_TRUE(writer->append(ledger_batch_of(text, 1)));
  EXPECT_EQ(all_text(**reader), text);
  // Batches appended during a walk are not part of it.
  std::string seen;
  const auto read = (*reader)->for_each_text([&](std::string_view piece) {
    seen += piece;
    return writer->append(ledger_batch_of(more, 1)).has_value();
  });
  EXPECT_TRUE(read);
  EXPECT_EQ(seen, text);
  EXPECT_EQ((*reader)->verify(), writer->head());
  EXPECT_EQ((*reader)->line_at(text.size()), more.substr(0, more.find('\n')));
}

TEST(LedgerFile, AFolderThatCannotBeWrittenIsRead) {
  if (::geteuid() == 0) GTEST_SKIP() << "nothing is forbidden to root";
  const LedgerScratch scratch;
  ASSERT_TRUE(scratch.open()->append(ledger_batch_of("a\n", 1)));
  std::filesystem::permissions(scratch.path, std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
  const auto reader = LedgerFile::open_reader(scratch.file());
  EXPECT_TRUE(reader && all_text(**reader) == "a\n");
  std::filesystem::permissions(scratch.path, std::filesystem::perms::owner_all);
}

class LedgerDamage : public ::testing::Test {
 protected:
  /// Four batches of ten lines, the third of them long.
  void SetUp() override {
    const auto file = scratch_.open();
    for (std::uint64_t batch = 1; batch <= 4; ++batch) {
      std::string text = lines_of(batch, 10);
      if (batch == 3) text.insert(text.find('\n'), 3 * detail::kLedgerPieceBytes, 'x');
      ASSERT_TRUE(file->append(ledger_batch_of(text, batch)));
    }
  }

  /// The result of `verify` after a change; empty if it finds nothing.
  std::string message_after(const char* sql) {
    const auto before = scratch_.bytes();
    scratch_.run(sql);
    std::string message;
    const auto reader = LedgerFile::open_reader(scratch_.file());
    if (!reader) {
      EXPECT_EQ(reader.error().fault, StoreFault::kDamaged) << sql;
      message = reader.error().message;
    } else if (const auto verified = (*reader)->verify(); !verified) {
      EXPECT_EQ(verified.error().fault, StoreFault::kDamaged) << sql;
      message = verified.error().message;
    }
    for (const auto& [name, bytes] : before) std::ofstream(scratch_.path / name, std::ios::binary) << bytes;
    for (const char* end : {"-wal", "-shm"}) std::filesystem::remove(scratch_.file() + end);
    return message;
  }
  void expect_found(const char* sql, std::string_view where) {
    const std::string message = message_after(sql);
    EXPECT_NE(message.find(where), std::string::npos) << sql << ": " << message;
  }

  LedgerScratch scratch_;
};

TEST_F(LedgerDamage, AChangedColumnIsFoundWithItsBatch) {
  EXPECT_EQ(message_after("UPDATE batches SET run = run"), "");
  for (const char* column : {"run", "first_line", "lines", "first_position", "bytes", "taken_bytes", "taken_lines"}) {
    expect_found(fmt::format("UPDATE batches SET {0} = {0} + 1 WHERE number = 2", column).c_str(),
                 "batch 2 (from line 11 on): not what was written");
  }
  for (const char* column : {"taken_hash", "text_hash", "hash"}) {
    for (const char* value : {"zeroblob(32)", "zeroblob(31)", "x''"}) {
      expect_found(fmt::format("UPDATE batches SET {} = {} WHERE number = 2", column, value).c_str(),
                   "batch 2 (from line 11 on): not what was written");
    }
  }
}

TEST_F(LedgerDamage, AChangedTextIsFoundWithItsBatch) {
  const std::string third = "(SELECT first_position FROM batches WHERE number = 3)";
  const std::string one = "WHERE position = " + third;
  const std::string last =
      "WHERE position = (SELECT max(position) FROM texts WHERE position < (SELECT first_position "
      "FROM batches WHERE number = 4))";
  for (const std::string& where : {one, last}) {
    for (const char* change :
         {"UPDATE texts SET text = CAST('y' || substr(text, 2) AS BLOB) ",
          "UPDATE texts SET text = CAST(text || x'0a' AS BLOB) ", "UPDATE texts SET text = x'' ",
          "UPDATE texts SET hash = zeroblob(32) ", "DELETE FROM texts ", "UPDATE texts SET position = position + 1 "}) {
      expect_found((change + where).c_str(), "batch 3 (lines 21 to 30): ");
    }
  }
  expect_found(("DELETE FROM texts WHERE position >= " + third).c_str(), "batch 3 (lines 21 to 30): ");
}

TEST_F(LedgerDamage, AMissingBatchIsFoundAtBothEnds) {
  expect_found("DELETE FROM batches WHERE number = 1", "batch 1 (from line 1 on): missing");
  expect_found("DELETE FROM batches WHERE number = 3", "batch 3 (from line 21 on): missing");
  expect_found("DELETE FROM batches WHERE number = 4", "batch 4 (from line 31 on): missing");
  expect_found(
      "DELETE FROM texts WHERE position >= (SELECT first_position FROM batches WHERE number = 4); "
      "DELETE FROM batches WHERE number = 4",
      "batch 4 (from line 31 on): missing");
  expect_found("UPDATE batches SET number = 5 WHERE number = 4", "batch 4 (from line 31 on): missing");
}

TEST_F(LedgerDamage, WhatIsTooMuchIsFound) {
  const auto expect_more = [&](const char* sql) { expect_found(sql, "batch 4 is the last one, but there are more"); };
  expect_more(
      "INSERT INTO batches SELECT 5, run, first_line, lines, first_position, bytes, taken_bytes, taken_lines, "
      "taken_hash, text_hash, hash FROM batches WHERE number = 4");
  expect_more(
      "INSERT INTO batches SELECT 0, run, first_line, lines, first_position, bytes, taken_bytes, taken_lines, "
      "taken_hash, text_hash, hash FROM batches WHERE number = 4");
  expect_more("INSERT INTO texts VALUES (100000000, x'0a', x'')");
  expect_more("INSERT INTO texts VALUES (-1, x'0a', x'')");
}

TEST_F(LedgerDamage, AChangedHeadIsFound) {
  expect_found("DELETE FROM head", "head: its row is missing");
  for (const char* change : {"batches = 3", "lines = lines - 10", "bytes = 0", "run = 9", "batch_hash = zeroblob(32)",
                             "hash = zeroblob(32)"}) {
    expect_found(fmt::format("UPDATE head SET {}", change).c_str(), "head: not what was written");
  }
  // A valid head, but of another ledger.
  const LedgerScratch other;
  {
    const auto file = other.open();
    for (std::uint64_t batch = 1; batch <= 4; ++batch) ASSERT_TRUE(file->append(ledger_batch_of("a\n", batch)));
  }
  expect_found(fmt::format("ATTACH '{}' AS other; UPDATE head SET (batches, lines, bytes, run, batch_hash, hash) = "
                           "(SELECT batches, lines, bytes, run, batch_hash, hash FROM other.head)",
                           other.file())
                   .c_str(),
               "batch 4: its hash is not that of the last batch");
}

TEST_F(LedgerDamage, IsNeverReturned) {
  scratch_.run("UPDATE texts SET text = CAST('y' || substr(text, 2) AS BLOB) WHERE position = 0");
  const auto reader = LedgerFile::open_reader(scratch_.file());
  ASSERT_TRUE(reader);
  EXPECT_EQ((*reader)->line_at(0).error().fault, StoreFault::kDamaged);
  int visits = 0;
  const auto read = (*reader)->for_each_text([&](std::string_view) { return ++visits > 0; });
  EXPECT_EQ(read.error().fault, StoreFault::kDamaged);
  EXPECT_EQ(visits, 0);
  scratch_.run("UPDATE batches SET taken_lines = 3 WHERE number = 4");
  EXPECT_EQ((*reader)->sources().error().fault, StoreFault::kDamaged);
}

TEST_F(LedgerDamage, AChangedTableIsRefused) {
  scratch_.run("ALTER TABLE texts ADD COLUMN more INTEGER");
  EXPECT_EQ(LedgerFile::open(scratch_.file()).error().fault, StoreFault::kDamaged);
  EXPECT_EQ(LedgerFile::open_reader(scratch_.file()).error().fault, StoreFault::kDamaged);
}

/// A table that a later version derives from these, and its rows.
TEST_F(LedgerDamage, TablesOfOtherNamesAreNone) {
  scratch_.run("CREATE TABLE parts(part INTEGER PRIMARY KEY, bytes BLOB) STRICT; INSERT INTO parts VALUES (1, x'00')");
  const auto file = scratch_.open();
  ASSERT_TRUE(file);
  EXPECT_EQ(file->verify()->batches, 4U);
  EXPECT_TRUE(file->append(ledger_batch_of("a\n", 4)));
}

/// For any flipped bit of the file: it is detected, or no returned data changes.
TEST_F(LedgerDamage, AFlipAnywhereIsFoundOrChangesNothing) {
  const std::string written = all_text(**LedgerFile::open_reader(scratch_.file()));
  const auto head = (*LedgerFile::open_reader(scratch_.file()))->head();
  std::string bytes = scratch_.bytes()["ledger.db"];
  Rng rng(3);
  const int flips = berth::testing::by_build(600, 100);
  int found = 0;
  for (int i = 0; i < flips; ++i) {
    const std::size_t at = rng.below(bytes.size());
    const char before = bytes[at];
    bytes[at] = static_cast<char>(bytes[at] ^ (1 << rng.below(8)));
    std::ofstream(scratch_.file(), std::ios::binary) << bytes;
    bytes[at] = before;
    for (const char* end : {"-wal", "-shm"}) std::filesystem::remove(scratch_.file() + end);
    const auto reader = LedgerFile::open_reader(scratch_.file());
    if (!reader || !(*reader)->verify()) {
      ++found;
      continue;
    }
    EXPECT_EQ((*reader)->head(), head) << at;
    EXPECT_EQ(all_text(**reader), written) << at;
  }
  fmt::print("ledger rot: {} flips anywhere in {} bytes, {} found, the others change nothing\n", flips, bytes.size(),
             found);
  EXPECT_GT(found, flips / 4);  // the rest is free space in pages
}

TEST(LedgerFile, RefusesWhatIsNotItsOwnAndChangesNothing) {
  const auto expect_refused = [](const LedgerScratch& scratch, StoreFault fault) {
    const auto before = scratch.bytes();
    const auto opened = LedgerFile::open(scratch.file());
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().fault, fault) << opened.error().message;
    const auto reader = LedgerFile::open_reader(scratch.file());
    ASSERT_FALSE(reader);
    EXPECT_EQ(reader.error().fault, fault) << reader.error().message;
    EXPECT_EQ(scratch.bytes(), before);
  };
  const LedgerScratch foreign;
  foreign.run("CREATE TABLE t(a)");
  expect_refused(foreign, StoreFault::kForeign);
  const LedgerScratch text;
  std::ofstream(text.file()) << std::string(2000, 'x');
  expect_refused(text, StoreFault::kForeign);
  const LedgerScratch later;
  ASSERT_TRUE(later.open()->append(ledger_batch_of("a\n", 1)));
  later.run("PRAGMA user_version = 2");
  expect_refused(later, StoreFault::kNewer);
  const LedgerScratch shorter;
  ASSERT_TRUE(shorter.open()->append(ledger_batch_of("a\n", 1)));
  std::filesystem::resize_file(shorter.file(), 2 * detail::kLedgerPageBytes);
  expect_refused(shorter, StoreFault::kDamaged);
}

TEST(LedgerFile, AnEmptyFileIsANewOne) {
  const LedgerScratch scratch;
  {
    const std::ofstream made(scratch.file());
  }
  EXPECT_EQ(LedgerFile::open_reader(scratch.file()).error().fault, StoreFault::kFailed);
  const auto file = scratch.open();
  ASSERT_TRUE(file);
  EXPECT_TRUE(file->append(ledger_batch_of("a\n", 1)));
}

}  // namespace
}  // namespace berth::edges
