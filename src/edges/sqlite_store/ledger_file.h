/// The lines of a ledger, in one SQLite file: batches of whole lines in their order, each chained to the one before by
/// a hash. Lines are only ever appended. One writer at a time, readers beside it; beside the file stand PATH-wal and
/// PATH-shm.
///
/// Together the texts of all batches are one text: a line's position is its first byte in it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "domain/ports/journal_store.h"

namespace berth::edges {

/// How far a file of events was taken: its first `bytes` bytes, up to the end of the last line that was taken, without
/// that line's end.
struct LedgerSource {
  std::uint64_t bytes = 0;
  std::uint64_t lines = 0;
  Sha256 hash{};  ///< SHA-256 of these bytes
  friend bool operator==(const LedgerSource&, const LedgerSource&) = default;
};

struct LedgerBatch {
  std::string_view text;  ///< whole lines, at least one, each ended by LF
  std::uint64_t lines = 0;
  /// All batches of one ingest have the same number, from 1; a batch has that of the one before, or a higher one.
  std::uint64_t run = 0;
  LedgerSource source = {};  ///< after this batch
};

/// The end of all that was appended.
struct LedgerHead {
  std::uint64_t batches = 0;
  std::uint64_t lines = 0;
  std::uint64_t bytes = 0;  ///< of all texts
  std::uint64_t run = 0;    ///< of the last batch; 0: there is none
  Sha256 hash{};            ///< of the last batch, which covers all of them; zeros: there is none
  friend bool operator==(const LedgerHead&, const LedgerHead&) = default;
};

/// For one thread. A reader sees what was appended before each call, and nothing that is not whole.
class LedgerFile {
 public:
  /// For writing, and makes the file where it is missing. kLocked while another LedgerFile is open for writing, in this
  /// process or another. kForeign, kNewer, kDamaged, and nothing is changed. `vfs`: a SQLite VFS by name; empty: the
  /// system's files.
  [[nodiscard]] static StoreResult<std::unique_ptr<LedgerFile>> open(const std::string& path,
                                                                     const std::string& vfs = "");
  /// For reading alone. kFailed if there is no such file; else as `open`.
  [[nodiscard]] static StoreResult<std::unique_ptr<LedgerFile>> open_reader(const std::string& path,
                                                                            const std::string& vfs = "");
  /// For `open`.
  struct State;
  explicit LedgerFile(std::unique_ptr<State> state);
  ~LedgerFile();
  LedgerFile(const LedgerFile&) = delete;
  LedgerFile& operator=(const LedgerFile&) = delete;

  /// Checked against its hash. O(1).
  [[nodiscard]] StoreResult<LedgerHead> head();
  /// The last source of each run, by run. Checks the chain of all batches, but not their texts. O(batches).
  [[nodiscard]] StoreResult<std::vector<LedgerSource>> sources();
  /// A number that no batch has yet.
  [[nodiscard]] StoreResult<std::uint64_t> next_run();

  /// All of it is on the disk when this returns. On an error nothing of it can be seen, and it may be appended again;
  /// if that does not happen, the next `open` may find it, whole. Requires: opened for writing.
  [[nodiscard]] StoreResult<void> append(const LedgerBatch& batch);

  /// Whether this was the head once: then it still stands at that place.
  [[nodiscard]] StoreResult<bool> has_passed(const LedgerHead& earlier);
  /// All texts in order, in pieces of whole lines, until one is answered with false. Each is checked against its hash
  /// before, and the chain behind the last piece of each batch. What is appended meanwhile is not visited. A piece is
  /// gone when the visit is over, which may call `line_at`. Begins behind a head that was passed.
  [[nodiscard]] StoreResult<void> for_each_text(const std::function<bool(std::string_view text)>& visit,
                                                const LedgerHead& behind = {});
  /// The line at that position, without its LF, checked. kFailed if no line begins there. O(log lines), and a piece of
  /// text is hashed, unless it is the one of the last call.
  [[nodiscard]] StoreResult<std::string> line_at(std::uint64_t position);
  /// Reads everything, computes the chain again, and returns the head. kDamaged with the number of the first batch that
  /// is not what was written, and its lines.
  [[nodiscard]] StoreResult<LedgerHead> verify();

 private:
  std::unique_ptr<State> state_;
};

}  // namespace berth::edges
