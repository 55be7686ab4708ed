// Any bytes give demand within the limits or an error with the file's name, as either format.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/core/ensure.h"
#include "purchase/commit/demand.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace berth;
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  for (const auto read : {purchase::read_demand_csv, purchase::read_demand_pods}) {
    const auto demand = read(text, "fuzz");
    if (!demand) {
      ENSURE(demand.error().message.starts_with("fuzz"));
      continue;
    }
    ENSURE(!demand->empty());
    for (const std::int64_t units : *demand) ENSURE(units >= 0 && units <= purchase::kUnitsMax);
  }
  return 0;
}
