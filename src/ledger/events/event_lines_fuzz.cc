// Any bytes give lines whose events are within their ranges and can be read again at their positions, or an error with
// the file's name and the line.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/core/ensure.h"
#include "base/core/text.h"
#include "ledger/events/event_lines.h"

namespace {

using namespace berth;
using namespace berth::ledger;

void check_text(std::string_view text) {
  ENSURE(text.size() <= EventReader::kTextBytesMax);
  // A text may have a zero byte, by an escape.
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t bad = find_bad_utf8(text.substr(from));
    if (bad == std::string_view::npos) return;
    ENSURE(text[from + bad] == '\0');
    from += bad + 1;
  }
}

void check_time(std::int64_t us) { ENSURE(us >= 946'684'800'000'000 && us < 4'133'980'800'000'000); }

void check_interval(const Interval& when) {
  check_time(when.from_us);
  check_time(when.to_us);
  ENSURE(when.length_us() > 0);
}

void check_weight(std::int64_t weight) { ENSURE(weight >= 1 && weight <= 1'000'000); }

void check_money(std::int64_t amount) { ENSURE(amount >= 0 && amount <= 1'000'000'000'000'000); }

void check(const PriceEvent& price) {
  check_text(price.sku);
  check_time(price.from_us);
  check_money(price.micro_usd_per_gpu_hour);
}

void check(const GpuEvent& gpu) {
  check_text(gpu.gpu);
  check_text(gpu.sku);
  check_text(gpu.owner.value_or(""));
  check_weight(gpu.capacity);
  check_interval(gpu.when);
}

void check(const UseEvent& use) {
  for (const std::string_view text : {use.gpu, use.slice, use.tenant, use.service}) check_text(text);
  check_weight(use.weight);
  check_interval(use.when);
  ENSURE(use.role != Role::kIdle && use.role != Role::kShared);
  const bool is_nobodys = use.role == Role::kReconfiguration || use.role == Role::kStranded;
  ENSURE(is_nobodys || (!use.tenant.empty() && !use.service.empty()));
}

void check(const CreditEvent& credit) {
  check_text(credit.tenant);
  check_time(credit.at_us);
  check_money(credit.micro_usd);
  if (credit.expires_us) check_time(*credit.expires_us);
}

void check(const BudgetEvent& budget) {
  check_text(budget.tenant);
  check_time(budget.from_us);
  check_money(budget.micro_usd_per_month);
}

void check(const RateEvent& rate) {
  check_text(rate.currency);
  check_time(rate.from_us);
  check_money(rate.micro_per_usd);
}

void check(const VoidEvent& voiding) { check_text(voiding.of); }

void check(const CloseEvent& closing) {
  check_time(closing.month.begin_us());
  check_time(closing.month.end_us() - 1);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static EventReader again;
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  EventLines lines(text, "fuzz");
  std::uint64_t count = 0;
  auto has_line = lines.next();
  for (; has_line && *has_line; has_line = lines.next()) {
    const EventLine& line = lines.line();
    ENSURE(line.number == ++count);
    ENSURE(line.text.size() <= EventReader::kLineBytesMax && line.text.data() == text.data() + line.position);
    check_text(line.event.id);
    std::visit([](const auto& what) { check(what); }, line.event.what);
    const auto event = again.read(line_at(text, line.position));
    ENSURE(event && *event == line.event);
  }
  if (!has_line) {
    ENSURE(has_line.error().message.starts_with("fuzz:" + std::to_string(count + 1) + ": "));
    ENSURE(find_bad_utf8(has_line.error().message) == std::string_view::npos);
  }
  return 0;
}
