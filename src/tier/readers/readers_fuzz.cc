// The readers of one text on the same bytes, each also after its own header so that rows are reached at once.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/core/ensure.h"
#include "tier/readers/read_csv.h"
#include "tier/readers/read_parvagpu.h"
#include "tier/readers/read_training.h"

namespace {

using namespace berth::tier;

void check_table(const berth::Result<TierTable>& table) {
  if (!table) {
    ENSURE(!table.error().message.empty());
    return;
  }
  for (const TierWorkload& workload : table->workloads) {
    ENSURE(workload.points.size() == table->tiers.size());
    ENSURE(std::ranges::any_of(workload.points, [](const auto& points) { return !points.empty(); }));
    for (const auto& points : workload.points) {
      ENSURE(table->kind == TierKind::kServices || points.size() <= 1);
      for (const TierPoint& point : points) ENSURE(point.samples_per_second.sign() > 0 && point.batch >= 1);
    }
  }
}

void read_all(const std::string& text) {
  std::vector<Tier> tiers;
  for (const char* name : {"a", "1g", "7g"}) tiers.push_back({.name = name, .usd_per_hour = berth::Decimal(1)});
  check_table(read_csv(text, "fuzz", tiers, OtherTiers::kLeaveOut));
  check_table(read_csv(text, "fuzz", tiers, OtherTiers::kRefuse));
  check_table(read_gavel(text, "fuzz", tiers));
  check_table(read_miso(text, "fuzz", tiers));
  check_table(read_sia({{.app = "app", .tier = "a", .file = "fuzz", .text = text}}, tiers));
  check_table(read_parvagpu({{.model = "model", .file = "fuzz", .text = text}}, tiers));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(bytes), size);
  read_all(text);
  read_all("group,workload,tier,batch,processes,samples_per_second,latency_ms,flops\n" + text);
  read_all("Mig instance,Batch size,Workload Number,Throughput,Latency\n" + text);
  read_all("model,batch,mig_slice,median_s_per_iter\n" + text);
  read_all("placement,local_bsz,step_time\n" + text);
  return 0;
}
