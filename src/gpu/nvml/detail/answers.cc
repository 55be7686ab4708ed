#include "gpu/nvml/detail/answers.h"

#include <limits>

#include "base/core/ensure.h"
#include "base/core/text.h"
#include "gpu/nvml_abi/constants.h"

namespace berth::edges::detail {

using nvml_abi::Code;

tl::unexpected<GpuCallFailure> failed(std::string_view call, Code code) {
  ENSURE(code != Code::kSuccess);
  return tl::unexpected(GpuCallFailure{.call = std::string(call),
                                       .code = static_cast<int>(code),
                                       .code_name = std::string(nvml_abi::name_of(code)),
                                       .is_gpu_lost = code == Code::kGpuIsLost,
                                       .is_in_use = code == Code::kInUse});
}

bool is_not_offered(Code code) { return code == Code::kNotSupported || code == Code::kFunctionNotFound; }

std::string text_of(std::string_view buffer) {
  std::string text(buffer.substr(0, buffer.find('\0')));
  for (char& byte : text) {
    constexpr char kDelete = 0x7F;
    const bool is_control = static_cast<unsigned char>(byte) < ' ' || byte == kDelete;
    if (is_control) byte = '?';
  }
  for (std::size_t bad = find_bad_utf8(text); bad != std::string::npos; bad = find_bad_utf8(text)) text[bad] = '?';
  return text;
}

std::optional<std::int64_t> mib_if_known(std::uint64_t bytes) {
  if (bytes == nvml_abi::kValueNotAvailable) return std::nullopt;
  return mib_of_bytes(bytes);
}

std::optional<int> figure_of(std::uint32_t value) {
  constexpr auto kMax = static_cast<std::uint32_t>(std::numeric_limits<std::int32_t>::max());
  return value > kMax ? std::nullopt : std::optional(static_cast<int>(value));
}

std::int64_t mib_of_bytes(std::uint64_t bytes) {
  constexpr std::uint64_t kBytesPerMib = 1U << 20U;
  return bytes == nvml_abi::kValueNotAvailable ? 0 : static_cast<std::int64_t>(bytes / kBytesPerMib);
}

}  // namespace berth::edges::detail
