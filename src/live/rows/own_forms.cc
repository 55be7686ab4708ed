#include <string>

#include "live/rows/named_json.h"

namespace berth::journal {

void write_own(json::Writer& json, const Decimal& value) { json.value(value.fraction()); }

bool read_own(const yaml::Node& json, Decimal& value) {
  const std::string* fraction = json::text_in(json);
  auto read = fraction == nullptr ? std::nullopt : Decimal::of_fraction(*fraction);
  if (!read) return false;
  value = std::move(*read);
  return true;
}

}  // namespace berth::journal
