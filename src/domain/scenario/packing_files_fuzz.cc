// Demands, offers and profiles on the same bytes, each also after its own header so that rows are reached at once.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/core/ensure.h"
#include "domain/scenario/packing_files.h"

namespace {

using namespace berth;

/// One file, "m.csv", alone or in the folder "d".
class OneFile : public Files {
 public:
  explicit OneFile(std::string text) : text_(std::move(text)) {}
  [[nodiscard]] Result<std::string> read(const std::string& /*path*/) const override { return text_; }
  [[nodiscard]] Result<std::optional<std::vector<std::string>>> list(const std::string& path) const override {
    if (path != "d") return std::nullopt;
    return std::vector<std::string>{"m.csv"};
  }

 private:
  std::string text_;
};

void check_demands(const std::string& text) {
  const auto demands = scenario::read_demands(text, "fuzz");
  if (!demands) return;
  std::set<std::pair<std::string, std::string>> seen;
  for (const Demand& demand : *demands) {
    ENSURE(!demand.model.empty() && !demand.tenant.empty());
    ENSURE(demand.requests_per_second.sign() >= 0 && demand.latency_ms.sign() > 0);
    ENSURE(seen.emplace(demand.tenant, demand.model).second);
  }
}

void check_offers(const std::string& text) {
  const auto offers = scenario::read_offers(text, "fuzz");
  if (!offers) return;
  ENSURE(!offers->value.empty());
  for (const GpuOffer& offer : offers->value) {
    ENSURE(!offer.count_max || *offer.count_max >= 0);
    ENSURE(offer.micro_usd_per_hour && *offer.micro_usd_per_hour >= 0);
  }
}

void check_tables(const std::string& text) {
  const OneFile files(text);
  for (const auto format : {scenario::ProfileFormat::kParvagpu, scenario::ProfileFormat::kCsv}) {
    const auto tables = scenario::load_tables("d", format, files);
    ENSURE(tables.has_value() == scenario::load_tables("m.csv", format, files).has_value());
    if (!tables) continue;
    for (std::size_t i = 1; i < tables->value.size(); ++i) {
      ENSURE(tables->value[i - 1].model < tables->value[i].model);
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(bytes), size);
  check_demands(text);
  check_demands("model,requests_per_second,latency_ms\n" + text);
  check_demands("model,requests_per_second,latency_ms,tenant\n" + text);
  check_offers(text);
  check_offers("gpu,count,usd_per_gpu_hour\n" + text);
  check_tables(text);
  check_tables("model,gpu,profile,batch,processes,requests_per_second,latency_ms\n" + text);
  return 0;
}
