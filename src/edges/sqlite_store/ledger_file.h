/// The lines of a ledger, in one SQLite file: batches of whole lines in their order, each chained to the one before by
/// a hash. Lines are only ever appended. One writer at a time, with concurrent readers. PATH-wal and PATH-shm are next
/// to the file.
///
/// The texts of all batches form one text: a line's position is its first byte in it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "domain/ports/journal_store.h"

namespace berth::edges {

/// How much of a file of events was ingested: its first `bytes` bytes, up to the end of the last ingested line, without
/// its LF.
struct LedgerSource {
  std::uint64_t bytes = 0;
  std::uint64_t lines = 0;
  Sha256 hash{};  ///< SHA-256 of these bytes
  friend bool operator==(const LedgerSource&, const LedgerSource&) = default;
};

struct LedgerBatch {
  std::string_view text;  ///< complete lines, at least one, each ended by LF
  std::uint64_t lines = 0;
  /// The same for all batches of one ingest, from 1; never lower than that of the batch before.
  std::uint64_t run = 0;
  LedgerSource source = {};  ///< after this batch
};

/// The end of the appended data.
struct LedgerHead {
  std::uint64_t batches = 0;
  std::uint64_t lines = 0;
  std::uint64_t bytes = 0;  ///< of all texts
  std::uint64_t run = 0;    ///< of the last batch; 0: there is none
  Sha256 hash{};            ///< of the last batch, which covers all of them; zeros: there is none
  friend bool operator==(const LedgerHead&, const LedgerHead&) = default;
};

/// To be used by one thread. A reader sees the batches appended before each call, and only complete ones.
class LedgerFile {
 public:
  /// Opens the file for writing, and creates it if missing. kLocked while another LedgerFile is open for writing, in
  /// this process or another. kForeign, kNewer, kDamaged, with nothing changed. `vfs`: a SQLite VFS by name; empty: the
  /// system's files.
  [[nodiscard]] static StoreResult<std::unique_ptr<LedgerFile>> open(const std::string& path,
                                                                     const std::string& vfs = "");
  /// Opens the file only for reading. kFailed if there is no such file; else as `open`.
  [[nodiscard]] static StoreResult<std::unique_ptr<LedgerFile>> open_reader(const std::string& path,
                                                                            const std::string& vfs = "");
  /// For `open`.
  struct State;
  explicit LedgerFile(std::unique_ptr<State> state);
  ~LedgerFile();
  LedgerFile(const LedgerFile&) = delete;
  LedgerFile& operator=(const LedgerFile&) = delete;

  /// The head, checked against its hash. O(1).
  [[nodiscard]] StoreResult<LedgerHead> head();
  /// The last source of each run, by run. Checks the chain of all batches, but not their texts. O(batches).
  [[nodiscard]] StoreResult<std::vector<LedgerSource>> sources();
  /// A number that no batch has yet.
  [[nodiscard]] StoreResult<std::uint64_t> next_run();

  /// The batch is on the disk when this returns. On an error it is not visible and may be appended again; if it is not,
  /// the next `open` may find it, complete. Requires: opened for writing.
  [[nodiscard]] StoreResult<void> append(const LedgerBatch& batch);

  /// Whether `earlier` was once the head, and is thus still part of the chain.
  [[nodiscard]] StoreResult<bool> has_passed(const LedgerHead& earlier);
  /// Visits all texts in order, in pieces of complete lines, until `visit` returns false. Each piece is checked against
  /// its hash before its visit, and the chain after the last piece of each batch. Batches appended meanwhile are not
  /// visited. A piece is valid only during its visit, which may call `line_at`. Begins after the head passed in, if
  /// any.
  [[nodiscard]] StoreResult<void> for_each_text(const std::function<bool(std::string_view text)>& visit,
                                                const LedgerHead& behind = {});
  /// The line at that position, without its LF, checked. kFailed if no line begins there. O(log lines), plus hashing
  /// one piece of text, unless it is that of the last call.
  [[nodiscard]] StoreResult<std::string> line_at(std::uint64_t position);
  /// Reads everything, recomputes the chain, and returns the head. kDamaged with the number and lines of the first
  /// damaged batch.
  [[nodiscard]] StoreResult<LedgerHead> verify();

 private:
  std::unique_ptr<State> state_;
};

}  // namespace berth::edges
