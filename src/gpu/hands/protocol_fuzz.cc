// Any bytes are refused, or are a packet that is written and read again as the same; from both sides.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/core/ensure.h"
#include "gpu/hands/protocol.h"

namespace {

using namespace berth::edges;

template <class Packet, class Read>
void check(std::string_view bytes, Read read) {
  const auto packet = read(bytes);
  if (!packet) {
    ENSURE(!packet.error().message.empty());
    return;
  }
  // Texts longer than we write them are shortened once.
  const auto again = read(packet_of(Packet(*packet)));
  ENSURE(again.has_value());
  ENSURE(read(packet_of(Packet(*again))).value() == *again);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  check<ClientPacket>(text, read_client_packet);
  check<HandsPacket>(text, read_hands_packet);
  return 0;
}
