#include "edges/sqlite_store/ledger_file.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <utility>

#include "base/core/ensure.h"
#include "edges/sqlite_store/detail/connection.h"
#include "edges/sqlite_store/detail/inspect.h"
#include "edges/sqlite_store/detail/ledger_rows.h"
#include "edges/sqlite_store/detail/ledger_tables.h"
#include "edges/sqlite_store/detail/reading.h"
#include "edges/sqlite_store/detail/writer.h"
#include "edges/sqlite_store/detail/writer_lock.h"

namespace berth::edges {
namespace {

using detail::Connection;
using detail::LedgerBatchRow;
using detail::LedgerRows;
using detail::Transaction;

constexpr int kLedgerCheckpointPages = 1024;  // 16 MiB
constexpr int kLedgerWalFactorMax = 16;       // a WAL of this many times these pages makes an append wait for readers

std::uint64_t count_lines(std::string_view text) { return static_cast<std::uint64_t>(std::ranges::count(text, '\n')); }

/// The settings on which durability depends.
StoreResult<void> set_up_ledger(const Connection& connection) {
  // EXTRA until there is a WAL: the switch of modes writes a rollback journal, whose removal must be synced, too.
  if (auto set = connection.execute("PRAGMA synchronous = EXTRA", "set the connection up"); !set) return set;
  const auto mode = connection.text("PRAGMA journal_mode = WAL", "switch to a WAL");
  if (!mode) return tl::unexpected(mode.error());
  if (*mode != "wal") {
    return tl::unexpected(
        StoreError{StoreFault::kFailed,
                   fmt::format("{}: cannot switch to a WAL: its journal_mode is {}", connection.path(), *mode)});
  }
  // We do the checkpoints ourselves; after one, a WAL that has grown is truncated to 32 MiB.
  auto set = connection.execute(
      "PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0; PRAGMA journal_size_limit = 33554432; "
      "PRAGMA cache_size = -8192; PRAGMA cell_size_check = ON; PRAGMA trusted_schema = OFF; "
      "PRAGMA temp_store = MEMORY",
      "set the connection up");
  if (!set) return set;
  return detail::check_ledger_tables(connection);
}

}  // namespace

struct LedgerFile::State {
  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (checkpoints.is_stopped) connection.set_checkpoint_on_close(false);
  }

  /// Requires: the connection's tables exist.
  [[nodiscard]] static StoreResult<std::unique_ptr<State>> make(Connection connection);
  StoreResult<void> take_lock();
  void checkpoint_if_due();
  /// Visits the batches after `reached` in order and checks their chain, until `on_batch` returns false. Returns the
  /// head.
  template <class OnBatch>
  StoreResult<LedgerHead> for_each_batch(const OnBatch& on_batch, LedgerHead reached = {});
  /// Also checks the text of a batch.
  StoreResult<bool> verify_batch(const LedgerBatchRow& row);
  /// Checks that there are no batches and texts beyond the head.
  StoreResult<void> verify_ends();
  StoreResult<void> verify_structure();

  Connection connection;
  bool is_writer = false;
  detail::WriterLock lock;
  detail::Checkpoints checkpoints;
  int wal_pages = 0;  // after the last commit
  LedgerRows rows;
  LedgerRows::Piece piece;  // the piece of the last line read
};

StoreResult<std::unique_ptr<LedgerFile::State>> LedgerFile::State::make(Connection connection) {
  auto state = std::make_unique<State>();
  state->connection = std::move(connection);
  auto rows = LedgerRows::open(state->connection);
  if (!rows) return tl::unexpected(rows.error());
  state->rows = *std::move(rows);
  if (const auto head = state->rows.read_head(); !head) return tl::unexpected(head.error());
  return state;
}

StoreResult<void> LedgerFile::State::take_lock() {
  auto taken = detail::WriterLock::take(connection);
  if (!taken) return tl::unexpected(taken.error());
  lock = *std::move(taken);
  is_writer = true;
  const auto note_wal_pages = [](void* pages, sqlite3*, const char*, int count) {
    *static_cast<int*>(pages) = count;
    return SQLITE_OK;
  };
  sqlite3_wal_hook(connection.raw(), note_wal_pages, &wal_pages);
  // Pages that an earlier process left in the WAL may be unsynced, and no later sync of the WAL would retry them.
  detail::checkpoint(connection, SQLITE_CHECKPOINT_PASSIVE, checkpoints);
  connection.set_checkpoint_on_close(true);
  return {};
}

void LedgerFile::State::checkpoint_if_due() {
  if (wal_pages < kLedgerCheckpointPages) return;
  const bool is_urgent = wal_pages >= kLedgerWalFactorMax * kLedgerCheckpointPages;
  detail::checkpoint(connection, is_urgent ? SQLITE_CHECKPOINT_RESTART : SQLITE_CHECKPOINT_PASSIVE, checkpoints);
}

template <class OnBatch>
StoreResult<LedgerHead> LedgerFile::State::for_each_batch(const OnBatch& on_batch, LedgerHead reached) {
  auto head = rows.read_head();
  if (!head) return head;
  while (reached.batches < head->batches) {
    const auto row = rows.read_batch_behind(reached);
    if (!row) return tl::unexpected(row.error());
    const StoreResult<bool> goes_on = on_batch(*row);
    if (!goes_on) return tl::unexpected(goes_on.error());
    if (!*goes_on) return head;
  }
  if (reached == *head) return head;
  return detail::damaged(connection.path(),
                         fmt::format("batch {}: its hash is not that of the last batch", head->batches));
}

StoreResult<bool> LedgerFile::State::verify_batch(const LedgerBatchRow& row) {
  std::uint64_t lines = 0;
  auto read = rows.read_texts(row, [&](std::string_view text) {
    lines += count_lines(text);
    return true;
  });
  if (!read || lines == row.lines) return read;
  return rows.damaged_batch(row, fmt::format("{} lines were found", lines));
}

StoreResult<void> LedgerFile::State::verify_ends() {
  const auto transaction = Transaction::begin(connection, Transaction::Kind::kRead);
  if (!transaction) return tl::unexpected(transaction.error());
  const auto head = rows.read_head();  // the current one: more may have been appended
  if (!head) return tl::unexpected(head.error());
  auto others = connection.prepare(
      "SELECT EXISTS (SELECT 1 FROM batches WHERE number < 1) OR EXISTS (SELECT 1 FROM batches WHERE number > ?) OR "
      "EXISTS (SELECT 1 FROM texts WHERE position < 0) OR EXISTS (SELECT 1 FROM texts WHERE position >= ?)",
      "look for more");
  if (!others) return tl::unexpected(others.error());
  detail::StatementRun run = others->run();
  const auto stepped = run.bind(head->batches).bind(head->bytes).step();
  if (!stepped) return tl::unexpected(stepped.error());
  if (run.integer(0) == 0) return {};
  return detail::damaged(connection.path(),
                         fmt::format("batch {} is the last one, but there are more batches or texts", head->batches));
}

StoreResult<void> LedgerFile::State::verify_structure() {
  const auto found = connection.text("PRAGMA integrity_check(1)", "check its structure");
  if (!found) return tl::unexpected(found.error());
  if (*found == "ok") return {};
  return detail::damaged(connection.path(), fmt::format("its structure is damaged: {}", *found));
}

StoreResult<std::unique_ptr<LedgerFile>> LedgerFile::open(const std::string& path, const std::string& vfs) {
  const auto inspection = detail::inspect(path, vfs, detail::kWantedLedger);
  if (!inspection) return tl::unexpected(inspection.error());
  auto connection = Connection::open(path, detail::OpenMode::kWrite, vfs);
  if (!connection) return tl::unexpected(connection.error());
  connection->set_checkpoint_on_close(false);  // a refusal changes nothing
  if (inspection->is_new) {
    if (auto made = detail::make_ledger_tables(*connection); !made) return tl::unexpected(made.error());
  }
  if (auto set = set_up_ledger(*connection); !set) return tl::unexpected(set.error());
  auto state = State::make(*std::move(connection));
  if (!state) return tl::unexpected(state.error());
  if (auto taken = (*state)->take_lock(); !taken) return tl::unexpected(taken.error());
  return std::make_unique<LedgerFile>(*std::move(state));
}

StoreResult<std::unique_ptr<LedgerFile>> LedgerFile::open_reader(const std::string& path, const std::string& vfs) {
  const auto inspection = detail::inspect(path, vfs, detail::kWantedLedger);
  if (!inspection) return tl::unexpected(inspection.error());
  if (inspection->is_new) {
    return tl::unexpected(StoreError{StoreFault::kFailed, fmt::format("{}: wanted a ledger, found none", path)});
  }
  auto connection = detail::open_for_reading(path, vfs);
  if (!connection) return tl::unexpected(connection.error());
  if (auto checked = detail::check_ledger_tables(*connection); !checked) return tl::unexpected(checked.error());
  auto state = State::make(*std::move(connection));
  if (!state) return tl::unexpected(state.error());
  return std::make_unique<LedgerFile>(*std::move(state));
}

LedgerFile::LedgerFile(std::unique_ptr<State> state) : state_(std::move(state)) {}
LedgerFile::~LedgerFile() = default;

StoreResult<LedgerHead> LedgerFile::head() { return state_->rows.read_head(); }

StoreResult<std::vector<LedgerSource>> LedgerFile::sources() {
  std::vector<LedgerSource> sources;
  std::uint64_t last_run = 0;
  const auto walked = state_->for_each_batch([&](const LedgerBatchRow& row) -> StoreResult<bool> {
    if (sources.empty() || row.run != last_run) sources.emplace_back();
    sources.back() = row.taken;
    last_run = row.run;
    return true;
  });
  if (!walked) return tl::unexpected(walked.error());
  return sources;
}

StoreResult<std::uint64_t> LedgerFile::next_run() {
  const auto head = state_->rows.read_head();
  if (!head) return tl::unexpected(head.error());
  return head->run + 1;
}

StoreResult<void> LedgerFile::append(const LedgerBatch& batch) {
  ENSURE(state_->is_writer);
  ENSURE(batch.text.ends_with('\n') && count_lines(batch.text) == batch.lines);
  {
    auto transaction = Transaction::begin(state_->connection, Transaction::Kind::kWrite);
    if (!transaction) return tl::unexpected(transaction.error());
    const auto head = state_->rows.read_head();
    if (!head) return tl::unexpected(head.error());
    ENSURE(batch.run > 0 && batch.run >= head->run);
    auto done = state_->rows.append(batch, *head);
    if (done) done = transaction->commit();
    if (!done) return done;
  }
  state_->checkpoint_if_due();
  return {};
}

StoreResult<bool> LedgerFile::has_passed(const LedgerHead& earlier) {
  if (earlier.batches == 0) return earlier == LedgerHead();
  const auto head = state_->rows.read_head();
  if (!head) return tl::unexpected(head.error());
  if (earlier.batches >= head->batches) return earlier == *head;
  auto select = state_->connection.prepare("SELECT hash FROM batches WHERE number = ?", "look for a batch");
  if (!select) return tl::unexpected(select.error());
  detail::StatementRun run = select->run();
  const auto stepped = run.bind(earlier.batches).step();
  if (!stepped) return tl::unexpected(stepped.error());
  return *stepped && run.digest(0) == earlier.hash;
}

StoreResult<void> LedgerFile::for_each_text(const std::function<bool(std::string_view text)>& visit,
                                            const LedgerHead& behind) {
  const auto walked =
      state_->for_each_batch([&](const LedgerBatchRow& row) { return state_->rows.read_texts(row, visit); }, behind);
  if (!walked) return tl::unexpected(walked.error());
  return {};
}

StoreResult<std::string> LedgerFile::line_at(std::uint64_t position) {
  LedgerRows::Piece& piece = state_->piece;
  if (!piece.holds(position)) {
    auto read = state_->rows.read_piece(position);
    if (!read) return tl::unexpected(read.error());
    piece = *std::move(read);
  }
  const std::uint64_t offset = position - piece.position;
  if (piece.holds(position) && (offset == 0 || piece.text[offset - 1] == '\n')) {
    return piece.text.substr(offset, piece.text.find('\n', offset) - offset);
  }
  return tl::unexpected(StoreError{StoreFault::kFailed,
                                   fmt::format("{}: no line begins at byte {}", state_->connection.path(), position)});
}

StoreResult<LedgerHead> LedgerFile::verify() {
  auto head = state_->for_each_batch([&](const LedgerBatchRow& row) { return state_->verify_batch(row); });
  if (!head) return head;
  auto checked = state_->verify_ends();
  if (checked) checked = state_->verify_structure();
  if (!checked) return tl::unexpected(checked.error());
  return head;
}

}  // namespace berth::edges
