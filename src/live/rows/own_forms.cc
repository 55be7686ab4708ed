#include <string>

#include "live/rows/named_json.h"

namespace berth::journal {

void write_own(Json& json, const Decimal& value) { json = value.fraction(); }

bool read_own(const Json& json, Decimal& value) {
  if (!json.is_string()) return false;
  auto read = Decimal::of_fraction(json.get_ref<const std::string&>());
  if (!read) return false;
  value = std::move(*read);
  return true;
}

}  // namespace berth::journal
