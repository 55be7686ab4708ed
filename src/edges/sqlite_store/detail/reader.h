/// Reads a journal on a connection of its own. Each call sees one state of the store.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "domain/ports/journal_store.h"
#include "edges/sqlite_store/detail/connection.h"
#include "edges/sqlite_store/detail/inspect.h"
#include "edges/sqlite_store/detail/tables.h"

namespace berth::edges::detail {

class SqliteReader : public JournalReader {
 public:
  SqliteReader() = default;  ///< for `open`
  /// Takes over a connection, and checks its tables.
  [[nodiscard]] static StoreResult<std::unique_ptr<SqliteReader>> open(Connection connection);

  [[nodiscard]] StoreResult<Range> range() override;
  [[nodiscard]] StoreResult<std::vector<JournalRow>> read(std::uint64_t from, std::size_t count_max) override;
  [[nodiscard]] StoreResult<std::optional<JournalSnapshot>> latest_snapshot() override;
  [[nodiscard]] StoreResult<std::optional<JournalSnapshot>> older_snapshot() override;
  [[nodiscard]] StoreResult<std::optional<KeyedOutcome>> find_outcome(const Sha256& key) override;
  [[nodiscard]] StoreResult<std::vector<KeyedOutcome>> read_outcomes(const std::optional<Sha256>& after,
                                                                     std::size_t count_max) override;
  [[nodiscard]] StoreResult<std::vector<UsageRow>> read_usage(const UsageSpan& span,
                                                              const std::optional<UsageKey>& after,
                                                              std::size_t count_max) override;
  [[nodiscard]] StoreResult<std::optional<BlobRow>> find_blob(const Sha256& blob) override;
  [[nodiscard]] StoreResult<std::vector<BlobRow>> read_blobs(const std::optional<Sha256>& after,
                                                             std::size_t count_max) override;
  [[nodiscard]] StoreResult<std::optional<BlobPart>> read_blob_part(const Sha256& blob, std::uint32_t index) override;

  [[nodiscard]] const Connection& connection() const { return connection_; }

 private:
  StoreResult<void> prepare();
  /// The hash of the row before `from`, kept or the last one pruned.
  StoreResult<Sha256> hash_before(const Meta& meta, std::uint64_t from);
  StoreResult<JournalRow> checked_row(StatementRun& run, std::uint64_t wanted, const Sha256& previous) const;
  StoreResult<std::optional<JournalSnapshot>> snapshot(std::uint64_t Meta::* sequence);
  StoreResult<BlobRow> checked_blob(StatementRun& run) const;
  /// The first unit of a run, on a GPU.
  struct Place {
    std::int64_t gpu = -1;
    std::int64_t start = -1;
  };
  StoreResult<std::optional<Place>> place_after(const Place& place);
  /// Adds the rows of a place that overlap the span, from `from_us` on.
  StoreResult<void> add_usage(const Place& place, std::int64_t from_us, const UsageSpan& span, std::size_t count_max,
                              std::vector<UsageRow>& rows);
  StoreResult<UsageRow> checked_usage(StatementRun& run, const Place& place) const;

  Connection connection_;
  MetaTable meta_;
  Statement rows_;
  Statement hash_;
  Statement snapshot_;
  Statement outcome_;
  Statement outcomes_;
  std::int64_t format_ = kFormat;  ///< an earlier one has no usage, or no blobs
  Statement usage_place_;
  Statement usage_before_;
  Statement usage_;
  Statement blob_;
  Statement blobs_;
  Statement blob_part_;
};

}  // namespace berth::edges::detail
