/// The state of the simulated devices in one SQLite file: a text per GPU, one for the rest of the world and one for its
/// clock, written whenever one changes, independent of the journal. A kill loses nothing. A power cut loses what was
/// written since the last `sync`, and leaves an earlier complete state.
#pragma once

#include <memory>
#include <string>

#include "domain/ports/devices_memory.h"
#include "domain/ports/journal_store.h"

namespace berth::edges {

class DevicesFile {
 public:
  using Memory = DevicesMemory;

  /// The last written state; empty if there is no file or nothing was written yet. The file is not changed. kForeign,
  /// kNewer; kDamaged, with the GPU, if the data is not what was written. `vfs`: a SQLite VFS by name; empty: the
  /// system's files.
  [[nodiscard]] static StoreResult<Memory> read(const std::string& path, const std::string& vfs = "");
  /// Creates the file if missing. kForeign, kNewer, kDamaged as for a journal, with nothing changed.
  [[nodiscard]] static StoreResult<std::unique_ptr<DevicesFile>> open(const std::string& path,
                                                                      const std::string& vfs = "");
  /// For `open`.
  struct State;
  explicit DevicesFile(std::unique_ptr<State> state);
  ~DevicesFile();
  DevicesFile(const DevicesFile&) = delete;
  DevicesFile& operator=(const DevicesFile&) = delete;

  /// Writes all of it or nothing. The first call must include the world.
  [[nodiscard]] StoreResult<void> write(const Memory& memory);
  /// Makes everything written durable. kFull if there is no space.
  [[nodiscard]] StoreResult<void> sync();

 private:
  std::unique_ptr<State> state_;
};

}  // namespace berth::edges
