/// Space on the disk that is kept free for orders that must not fail when it is full.
#pragma once

#include <cstdint>

namespace berth {

/// One thread at a time.
class DiskReserve {
 public:
  virtual ~DiskReserve() = default;

  /// How much is kept, or will be.
  [[nodiscard]] virtual std::uint64_t bytes() const = 0;
  [[nodiscard]] virtual bool is_kept() const = 0;
  /// Takes it from the disk if there is room for it and some more. Returns whether it is kept then.
  virtual bool keep() = 0;
  /// Gives it back to the disk: whoever writes next has it.
  virtual void release() = 0;
};

}  // namespace berth
