/// SQLite's connections, statements and transactions as values that close themselves, and its errors as StoreError.
#pragma once

#include <sqlite3.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "domain/ports/journal_store.h"

namespace berth::edges::detail {

/// The SQLite code of a failed call with errno `number`: SQLITE_FULL if space is short.
[[nodiscard]] int code_of_failure(int code, int number);
/// The error of a failed call: "PATH: cannot DOING: why", with advice where it helps.
[[nodiscard]] StoreError store_error(int code, const std::string& path, std::string_view doing, const char* why);
/// The same for the last failure of a connection.
[[nodiscard]] StoreError store_error(sqlite3* database, std::string_view doing);

/// kDamaged, "PATH: what".
[[nodiscard]] tl::unexpected<StoreError> damaged(const std::string& path, std::string_view what);

/// One run of a statement: parameters are bound in order, columns are read with their types; resets the statement at
/// the end. Bound values must outlive it.
class StatementRun {
 public:
  StatementRun(sqlite3_stmt* statement, const char* doing) : statement_(statement), doing_(doing) {}
  StatementRun(const StatementRun&) = delete;
  StatementRun& operator=(const StatementRun&) = delete;
  ~StatementRun();

  StatementRun& bind(std::int64_t value);
  StatementRun& bind(double value);
  StatementRun& bind(const std::optional<std::int64_t>& value) { return value ? bind(*value) : bind_null(); }
  StatementRun& bind(std::uint64_t value) { return bind(static_cast<std::int64_t>(value)); }
  StatementRun& bind(std::string_view text);
  StatementRun& bind(const Sha256& digest);
  StatementRun& bind_bytes(std::string_view bytes);
  StatementRun& bind_null();
  /// The key after which a page begins; absent: an empty blob, which sorts before all keys.
  StatementRun& bind_after(const std::optional<Sha256>& key);

  /// Whether there is a row.
  [[nodiscard]] StoreResult<bool> step();
  /// For a statement without rows.
  [[nodiscard]] StoreResult<void> finish();

  /// The columns of the row. A column of another type than requested is empty, and `is_well_typed` false from then on.
  [[nodiscard]] std::int64_t integer(int column);
  [[nodiscard]] std::optional<std::int64_t> optional_integer(int column);
  [[nodiscard]] double real(int column);
  [[nodiscard]] bool is_null(int column) const;
  [[nodiscard]] std::uint64_t count(int column) { return static_cast<std::uint64_t>(integer(column)); }
  [[nodiscard]] std::string text(int column);
  [[nodiscard]] std::string bytes(int column);
  /// The same without a copy, until the next step.
  [[nodiscard]] std::string_view bytes_view(int column);
  [[nodiscard]] Sha256 digest(int column);
  [[nodiscard]] bool is_well_typed() const { return is_well_typed_; }

 private:
  bool has_type(int column, int type);

  sqlite3_stmt* statement_;
  const char* doing_;
  int parameter_ = 0;
  bool is_well_typed_ = true;
};

/// A prepared statement; `doing` is for messages ("append a row").
class Statement {
 public:
  Statement() = default;
  Statement(sqlite3_stmt* statement, const char* doing) : statement_(statement), doing_(doing) {}
  [[nodiscard]] StatementRun run() { return {statement_.get(), doing_}; }

 private:
  struct Finalizer {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  std::unique_ptr<sqlite3_stmt, Finalizer> statement_;
  const char* doing_ = "";
};

/// At most `count_max` rows whose keys come after `after`. The parameters of `statement` are these two; `read` makes a
/// Row from the run's current row, or returns its fault.
template <class Row>
[[nodiscard]] StoreResult<std::vector<Row>> read_page(Statement& statement, const std::optional<Sha256>& after,
                                                      std::uint64_t count_max, const auto& read) {
  std::vector<Row> rows;
  StatementRun run = statement.run();
  run.bind_after(after).bind(std::min<std::uint64_t>(count_max, std::numeric_limits<std::int64_t>::max()));
  while (true) {
    const auto stepped = run.step();
    if (!stepped) return tl::unexpected(stepped.error());
    if (!*stepped) return rows;
    StoreResult<Row> row = read(run);
    if (!row) return tl::unexpected(row.error());
    rows.push_back(*std::move(row));
  }
}

enum class OpenMode : std::uint8_t {
  kWrite,      ///< and creates the file
  kExisting,   ///< likewise, but the file must exist; only for reading if its permissions allow no more
  kRead,       ///< in WAL mode, next to a writer
  kImmutable,  ///< only the file; no process writes
};

class Connection {
 public:
  Connection() = default;
  /// Nothing is read or locked yet.
  [[nodiscard]] static StoreResult<Connection> open(const std::string& path, OpenMode mode, const std::string& vfs);

  [[nodiscard]] sqlite3* raw() const { return database_.get(); }
  [[nodiscard]] const std::string& path() const { return path_; }
  /// Runs SQL whose rows, if any, do not matter.
  [[nodiscard]] StoreResult<void> execute(const char* sql, const char* doing) const;
  [[nodiscard]] StoreResult<Statement> prepare(const char* sql, const char* doing) const;
  /// The first column of the only row.
  [[nodiscard]] StoreResult<std::int64_t> integer(const char* sql, const char* doing) const;
  [[nodiscard]] StoreResult<std::string> text(const char* sql, const char* doing) const;
  /// Whether the last connection that closes copies the WAL into the file.
  void set_checkpoint_on_close(bool is_wanted) const;

 private:
  struct Closer {
    void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
  };
  std::unique_ptr<sqlite3, Closer> database_;
  std::string path_;
};

/// Rolled back unless committed.
class Transaction {
 public:
  enum class Kind : std::uint8_t { kRead, kWrite };
  [[nodiscard]] static StoreResult<Transaction> begin(const Connection& connection, Kind kind);
  Transaction(Transaction&& other) noexcept : database_(std::exchange(other.database_, nullptr)) {}
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();

  /// On an error none of it is visible, but see `SqliteWriter`.
  [[nodiscard]] StoreResult<void> commit();
  void roll_back();

 private:
  explicit Transaction(sqlite3* database) : database_(database) {}

  sqlite3* database_;
};

}  // namespace berth::edges::detail
