// Headers of any bytes, one a line, that pass through a gateway in either direction: none of those that pass can end
// its line early, belongs to one connection, or pretends to come from the gateway.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/core/ensure.h"
#include "serving/gateway/passing_headers.h"
#include "serving/replica_proof/replica_proof.h"

namespace {

using namespace berth;

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

void check_safe(const std::vector<HttpField>& passed) {
  constexpr std::array<std::string_view, 5> kOfOneConnection = {"Connection", "Transfer-Encoding", "Content-Length",
                                                                "Keep-Alive", "Upgrade"};
  for (const HttpField& field : passed) {
    ENSURE(!field.name.empty());
    for (const std::string* const text : {&field.name, &field.value}) {
      ENSURE(text->find_first_of("\r\n") == std::string::npos && text->find('\0') == std::string::npos);
    }
    ENSURE(field.name.find_first_of(": \t") == std::string::npos);
    ENSURE(std::ranges::none_of(kOfOneConnection,
                                [&](std::string_view each) { return is_same_header(field.name, each); }));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const auto fields = fields_of({reinterpret_cast<const char*>(bytes), size});
  const Endpoint replica{
      .slice = "s0", .generation = 7, .url = "http://127.0.0.1:1", .key = "k", .says_who_it_is = true};
  const auto to_replica = serving::headers_to_replica(fields, replica);
  check_safe(to_replica);
  for (const std::string_view name : {serving::kKeyHeader, serving::kSliceHeader, serving::kGenerationHeader}) {
    ENSURE(std::ranges::count_if(to_replica, [&](const HttpField& each) { return is_same_header(each.name, name); }) ==
           1);
  }
  ENSURE(find_header(to_replica, serving::kKeyHeader) == serving::request_token("k"));
  const auto from_replica = serving::headers_from_replica(fields);
  check_safe(from_replica);
  ENSURE(std::ranges::none_of(from_replica, [](const HttpField& each) { return each.value.empty(); }));
  static_cast<void>(serving::answered_by(fields, replica));
  return 0;
}
