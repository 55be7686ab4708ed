/// Base64 (RFC 4648) as kubeconfig files have it: with padding, and possibly line ends.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace berth::kube {

/// The bytes; nothing if the text is not base64. Spaces and line ends are skipped.
[[nodiscard]] std::optional<std::string> decode_base64(std::string_view text);

}  // namespace berth::kube
