/// The results of NVML calls as the port's values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "domain/ports/gpu_library.h"
#include "gpu/nvml_abi/codes.h"

namespace berth::edges::detail {

/// Requires: not kSuccess.
[[nodiscard]] tl::unexpected<GpuCallFailure> failed(std::string_view call, nvml_abi::Code code);

/// Whether the code means that this driver or model does not have the feature.
[[nodiscard]] bool is_not_offered(nvml_abi::Code code);

/// A text that the library wrote into a buffer, up to its zero. Bytes that are not printable UTF-8 become '?', because
/// the text goes into messages and JSON.
[[nodiscard]] std::string text_of(std::string_view buffer);
template <std::size_t Size>
[[nodiscard]] std::string text_of(const char (&buffer)[Size]) {
  return text_of(std::string_view(buffer, Size));
}

/// Whole MiB; 0 for an unknown figure.
[[nodiscard]] std::int64_t mib_of_bytes(std::uint64_t bytes);
/// The same; nothing for an unknown figure.
[[nodiscard]] std::optional<std::int64_t> mib_if_known(std::uint64_t bytes);
/// A figure of a driver that has no code for "unknown" in this call.
[[nodiscard]] std::optional<int> figure_of(std::uint32_t value);

}  // namespace berth::edges::detail
