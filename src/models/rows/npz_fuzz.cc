// Any bytes give arrays or an error: as an archive, as an array, and as an array in a correct archive.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/core/ensure.h"
#include "models/rows/read_npz.h"
#include "models/rows/testing/npz_bytes.h"

namespace {

using berth::Tensor;

void check_array(const Tensor& array) {
  std::uint64_t count = 1;
  for (const std::int64_t size : array.shape) count = size == 0 ? 0 : count;
  for (const std::int64_t size : array.shape) count *= count == 0 ? 1 : static_cast<std::uint64_t>(size);
  if (array.type == berth::TensorType::kBytes) {
    ENSURE(array.texts.size() == count);
  } else {
    ENSURE(array.bytes.size() == count * element_bytes(array.type));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using berth::testing::deflated;
  using berth::testing::npy_of;
  using berth::testing::zip_of;
  constexpr std::size_t kSizeMax = 60'000;
  const std::string_view text(reinterpret_cast<const char*>(bytes), std::min(size, kSizeMax));
  const std::string header = npy_of(text, "elements");
  for (const std::string_view array : {text, std::string_view(header)}) {
    if (const auto read = berth::models::read_npy(array, "a")) check_array(*read);
  }
  berth::testing::ZipEntry entry = deflated("a.npy", npy_of("|u1", "(3,)", "abc"));
  entry.packed = text;
  for (const std::string& archive : {std::string(text), zip_of({deflated("a.npy", header)}), zip_of({entry})}) {
    if (const auto read = berth::models::read_npz(archive, "n")) {
      for (const Tensor& array : *read) check_array(array);
    }
  }
  // What follows a correct beginning, and a correct archive with one byte changed.
  std::string changed = zip_of({deflated("a.npy", npy_of("|u1", "(3,)", "abc")), entry});
  for (std::size_t i = 0; i + 2 < text.size() && i < 8; i += 3) {
    const std::size_t at = (static_cast<unsigned char>(text[i]) << 8U | static_cast<unsigned char>(text[i + 1]));
    changed[at % changed.size()] = text[i + 2];
  }
  if (const auto read = berth::models::read_npz(changed, "n")) {
    for (const Tensor& array : *read) check_array(array);
  }
  return 0;
}
