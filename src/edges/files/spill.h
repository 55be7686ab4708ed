/// Data too large for memory: in an unnamed file, which disappears with the program.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/core/result.h"
#include "domain/ports/files.h"

namespace berth::edges {

/// Grows by appending, then is mapped. The system caches as much of it as fits in memory.
class Spill {
 public:
  /// Opens a file in `folder`, which should be on a disk with enough space. Fails if nothing can be written there.
  [[nodiscard]] static Result<Spill> open(const std::string& folder);

  Spill(Spill&&) noexcept;
  Spill& operator=(Spill&&) noexcept;
  ~Spill();

  [[nodiscard]] Result<void> append(std::string_view bytes);
  /// Maps what was appended. Requires: not mapped yet.
  [[nodiscard]] Result<std::unique_ptr<FileBytes>> map();

 private:
  struct State;
  explicit Spill(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace berth::edges
