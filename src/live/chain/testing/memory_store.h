/// The store of a journal in memory, with real hashes: for tests of code that reads or writes a journal.
#pragma once

#include <cstdint>
#include <memory>

#include "domain/ports/journal_store.h"

namespace berth::testing {

/// Writers and readers may run in different threads. Its contents are lost with it.
class MemoryStore : public JournalStore {
 public:
  MemoryStore();
  MemoryStore(const MemoryStore&) = delete;
  MemoryStore& operator=(const MemoryStore&) = delete;
  ~MemoryStore() override;

  [[nodiscard]] StoreResult<std::unique_ptr<JournalWriter>> open_writer(std::uint64_t epoch) override;
  [[nodiscard]] StoreResult<std::unique_ptr<JournalReader>> open_reader() override;
  [[nodiscard]] StoreResult<std::uint64_t> epoch() override;

  /// The next `count` calls of `append` and `prune` fail with this error and change nothing.
  void refuse_next(StoreError error, int count = 1);
  /// Flips a bit in the body of an existing row; readers then report it.
  void damage_row(std::uint64_t sequence);

  struct State;

 private:
  std::unique_ptr<State> state_;
};

}  // namespace berth::testing
