/// Bytes that are too many for the memory: in a file without a name, which goes with the program.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/core/result.h"
#include "domain/ports/files.h"

namespace berth::edges {

/// Grows by appending, is then mapped. The system keeps of it in memory what there is room for.
class Spill {
 public:
  /// In a folder on a disk with room. Fails if nothing can be written there.
  [[nodiscard]] static Result<Spill> open(const std::string& folder);

  Spill(Spill&&) noexcept;
  Spill& operator=(Spill&&) noexcept;
  ~Spill();

  [[nodiscard]] Result<void> append(std::string_view bytes);
  /// What was appended. Requires: not mapped yet.
  [[nodiscard]] Result<std::unique_ptr<FileBytes>> map();

 private:
  struct State;
  explicit Spill(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace berth::edges
