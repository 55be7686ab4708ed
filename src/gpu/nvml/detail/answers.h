/// What NVML's calls return, as the port's values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "domain/ports/gpu_library.h"
#include "gpu/nvml_abi/codes.h"

namespace berth::edges::detail {

/// Requires: not kSuccess.
[[nodiscard]] tl::unexpected<GpuCallFailure> failed(std::string_view call, nvml_abi::Code code);

/// Whether the library says that this driver, or this model, has no such thing.
[[nodiscard]] bool is_not_offered(nvml_abi::Code code);

/// A text that the library wrote into a buffer, up to its zero. Bytes that are not printable UTF-8 become '?', as such
/// a text goes into messages and JSON.
[[nodiscard]] std::string text_of(std::string_view buffer);
template <std::size_t Size>
[[nodiscard]] std::string text_of(const char (&buffer)[Size]) {
  return text_of(std::string_view(buffer, Size));
}

/// Whole MiB; 0 for a figure that is not known.
[[nodiscard]] std::int64_t mib_of_bytes(std::uint64_t bytes);

}  // namespace berth::edges::detail
