#include "base/core/byte_size.h"

#include <array>

#include "base/core/decimal.h"
#include "base/core/text.h"

namespace berth {
namespace {

constexpr std::int64_t kByteSizeMax = std::int64_t{1} << 50;

struct ByteUnit {
  std::string_view name;
  std::int64_t bytes;
};

constexpr std::array<ByteUnit, 3> kByteUnits = {
    {{"KiB", std::int64_t{1} << 10}, {"MiB", std::int64_t{1} << 20}, {"GiB", std::int64_t{1} << 30}}};

}  // namespace

Result<std::int64_t> parse_byte_size(std::string_view text) {
  std::string_view number = text;
  std::int64_t unit = 1;
  for (const ByteUnit& known : kByteUnits) {
    if (!text.ends_with(known.name)) continue;
    number.remove_suffix(known.name.size());
    unit = known.bytes;
  }
  const auto count = Decimal::parse(number);
  if (count && count->sign() > 0 && *count <= Decimal(kByteSizeMax)) {
    const Decimal bytes = *count * Decimal(unit);
    if (bytes.is_integer() && bytes <= Decimal(kByteSizeMax)) return bytes.floor();
  }
  return invalid("wanted a size such as 2GiB, 512MiB, 64KiB or whole bytes, above 0 and up to 1048576GiB, found " +
                 in_quotes(text));
}

}  // namespace berth
