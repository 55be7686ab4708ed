#include "ledger/billing/csv.h"

#include <fmt/format.h>

namespace berth::ledger {

std::string csv_row(const std::vector<std::string>& fields) {
  std::string row;
  for (const std::string& field : fields) {
    if (&field != &fields.front()) row += ',';
    if (field.find_first_of(",\"\r\n") == std::string::npos) {
      row += field;
      continue;
    }
    row += '"';
    for (const char c : field) row += c == '"' ? std::string("\"\"") : std::string(1, c);
    row += '"';
  }
  return row + "\n";
}

std::string decimal_of(Int128 value, int decimals) {
  Int128 unit = 1;
  for (int i = 0; i < decimals; ++i) unit *= 10;
  const Int128 size = value < 0 ? -value : value;
  return fmt::format("{}{}.{:0{}}", value < 0 ? "-" : "", size / unit, size % unit, decimals);
}

}  // namespace berth::ledger
