// Any bytes are refused with the name of the source, or are a value that is written and read again as the same.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/core/ensure.h"
#include "serving/gateway_wire/gateway_wire.h"

namespace {

template <class T>
void check_wire(std::string_view text, berth::Result<T> (*read)(std::string_view, std::string_view),
                std::string (*write)(const T&)) {
  const berth::Result<T> value = read(text, "fuzz");
  if (!value) {
    ENSURE(value.error().message.starts_with("fuzz"));
    return;
  }
  ENSURE(read(write(*value), "again").value() == *value);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace berth::serving;
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  check_wire<berth::EndpointTable>(text, read_endpoint_table, endpoint_table_json);
  check_wire<berth::RequestReport>(text, read_request_report, request_report_json);
  check_wire<std::uint64_t>(text, read_records_answer,
                            [](const std::uint64_t& until) { return records_answer_json(until); });
  if (const auto report = read_request_report(text, "fuzz")) {
    for (const berth::RequestRecord& record : report->records) {
      const std::string alone = request_report_json({.gateway = "", .table = 0, .records = {record}});
      ENSURE(alone.size() <= request_record_bytes_max(record) + 64);
    }
  }
  return 0;
}
