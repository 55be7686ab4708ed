/// Lets threads wake a thread that waits for descriptors.
#pragma once

#include "gpu/hands/descriptor.h"

namespace berth::edges {

class WakeUp {
 public:
  WakeUp();

  /// The descriptor; readable after `ring`, until `hear`.
  [[nodiscard]] int number() const { return event_.number(); }
  /// May be called by any thread.
  void ring() const;
  void hear() const;

 private:
  Descriptor event_;
};

}  // namespace berth::edges
