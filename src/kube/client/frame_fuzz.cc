#include <cstddef>
#include <cstdint>
#include <string_view>
#include <variant>

#include "base/core/ensure.h"
#include "base/json/node_text.h"
#include "kube/client/frame.h"
#include "kube/client/page.h"

/// Any bytes give a frame or an error; an object of a frame is written back with the identity that was read. The same
/// bytes as a page of a list.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  const auto frame = berth::kube::read_frame(text);
  if (frame) {
    if (const auto* object = std::get_if<berth::kube::ObjectFrame>(&*frame)) {
      const auto identity = berth::kube::identity_of(object->object);
      ENSURE(identity && identity->name == object->identity.name && identity->version == object->identity.version);
    }
  } else {
    ENSURE(!frame.error().message.empty());
  }
  const auto page = berth::kube::read_page(text);
  ENSURE(page || !page.error().message.empty());
  return 0;
}
