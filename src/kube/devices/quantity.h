/// Quantities as Kubernetes writes them: "500m", "80Gi", "1e3".
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace berth::kube {

/// A quantity in thousandths of its unit, rounded up; nothing if the text is not one, or does not fit.
[[nodiscard]] std::optional<std::int64_t> parse_quantity_milli(std::string_view text);

}  // namespace berth::kube
