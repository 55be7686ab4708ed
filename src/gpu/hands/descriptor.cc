#include "gpu/hands/descriptor.h"

#include <unistd.h>

namespace berth::edges {

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this != &other) {
    close();
    number_ = std::exchange(other.number_, -1);
  }
  return *this;
}

Descriptor::~Descriptor() { close(); }

void Descriptor::close() {
  if (number_ >= 0) ::close(std::exchange(number_, -1));
}

}  // namespace berth::edges
