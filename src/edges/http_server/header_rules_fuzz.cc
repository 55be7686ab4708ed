// Headers of any bytes, one a line, are faults that name something wanted, or are safe to pass on: tokens, values
// without control characters, and one certain end of the body.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/core/ensure.h"
#include "edges/http_server/detail/header_rules.h"

namespace {

using namespace berth;
using namespace berth::edges::detail;

std::vector<HttpField> fields_of(std::string_view text) {
  std::vector<HttpField> fields;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const std::size_t colon = std::min(line.find(':'), line.size());
    fields.push_back({std::string(line.substr(0, colon)), std::string(line.substr(std::min(colon + 1, line.size())))});
  }
  return fields;
}

std::size_t count_of(const std::vector<HttpField>& fields, std::string_view name) {
  return static_cast<std::size_t>(
      std::ranges::count_if(fields, [&](const HttpField& each) { return is_same_header(each.name, name); }));
}

void check(const std::vector<HttpField>& fields, HttpVersion version) {
  if (const auto fault = find_header_fault(fields, version)) {
    ENSURE(fault->starts_with("wanted "));
  } else {
    for (const HttpField& field : fields) {
      ENSURE(is_token(field.name) && is_header_value(field.value));
      ENSURE(field.value.find('\r') == std::string::npos && field.value.find('\0') == std::string::npos);
    }
    ENSURE(version == HttpVersion::kOld || count_of(fields, "Host") == 1);
  }
  if (const auto fault = find_framing_fault(fields, version)) {
    ENSURE(fault->starts_with("wanted "));
    return;
  }
  const std::size_t codings = count_of(fields, "Transfer-Encoding");
  ENSURE(count_of(fields, "Content-Length") + codings <= 1);
  ENSURE(codings == 0 || version == HttpVersion::kOneDotOne);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const auto fields = fields_of({reinterpret_cast<const char*>(bytes), size});
  check(fields, HttpVersion::kOld);
  check(fields, HttpVersion::kOneDotOne);
  return 0;
}
