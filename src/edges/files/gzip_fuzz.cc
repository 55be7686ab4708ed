// Any bytes unpack within the limit or give an error, with and without a correct beginning.
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/core/ensure.h"
#include "edges/files/gunzip.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  constexpr std::size_t kBytesMax = 1U << 20U;
  const std::string packed(reinterpret_cast<const char*>(bytes), size);
  for (const std::string& text : {packed, std::string("\x1f\x8b\x08\0\0\0\0\0\0\x03", 10) + packed}) {
    const auto unpacked = berth::edges::gunzip(text, kBytesMax);
    if (unpacked) ENSURE(unpacked->size() <= kBytesMax);
  }
  return 0;
}
