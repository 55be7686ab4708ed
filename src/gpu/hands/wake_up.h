/// Lets threads wake one that waits for descriptors.
#pragma once

#include "gpu/hands/descriptor.h"

namespace berth::edges {

class WakeUp {
 public:
  WakeUp();

  /// Can be read after `ring`, until `hear`.
  [[nodiscard]] int number() const { return event_.number(); }
  /// Any thread.
  void ring() const;
  void hear() const;

 private:
  Descriptor event_;
};

}  // namespace berth::edges
