// Any bytes as the answers of a server: what is read has figures in range.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/core/ensure.h"
#include "domain/profile_book/times_report.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace berth;
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  for (const auto& answers : {profile_book::ServerAnswers{"u", text, R"({"models":[]})"},
                              profile_book::ServerAnswers{"u", R"({"started_us":1,"device":"d","items":[]})", text}}) {
    const auto report = profile_book::read_times_report(answers);
    if (!report) continue;
    for (const ObservedTimes& times : report->items) {
      ENSURE(times.count > 0 && times.sum_us >= 0 && times.batch > 0 && std::isfinite(times.sum_squares));
    }
    for (const ObservedMemory& memory : report->memory) ENSURE(memory.bytes > 0);
  }
  return 0;
}
