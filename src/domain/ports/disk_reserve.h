/// Disk space reserved for orders that must not fail when the disk is full.
#pragma once

#include <cstdint>

namespace berth {

/// To be used by one thread at a time.
class DiskReserve {
 public:
  virtual ~DiskReserve() = default;

  /// The size of the reserve, whether it is held now or not.
  [[nodiscard]] virtual std::uint64_t bytes() const = 0;
  /// Whether the space is reserved now.
  [[nodiscard]] virtual bool is_kept() const = 0;
  /// Reserves the space if the disk has that much free and a margin. Returns whether it is reserved now.
  virtual bool keep() = 0;
  /// Frees the space for the next writer.
  virtual void release() = 0;
};

}  // namespace berth
