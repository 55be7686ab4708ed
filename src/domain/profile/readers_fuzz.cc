// All three readers of profiles on the same bytes, each also after its own header so that rows are reached at once.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/core/ensure.h"
#include "domain/profile/readers.h"

namespace {

using namespace berth::profile;

void read_all(std::string_view text) {
  const auto resolve = [](std::string_view gpu, std::string_view profile) {
    using Resolved = tl::expected<ResolvedProfile, UnresolvedProfile>;
    if (gpu.size() % 2 == 1) return Resolved(tl::unexpect, UnresolvedProfile{true, "no such GPU"});
    return Resolved(ResolvedProfile{std::string(gpu), std::string(profile)});
  };
  if (const auto table = read_parvagpu(text, "fuzz")) ENSURE(!table->points.empty());
  if (const auto table = read_profile_csv(text, "fuzz", "m", resolve)) ENSURE(!table->points.empty());
  if (const auto tables = read_profile_csv_models(text, "fuzz", resolve)) {
    for (const auto& table : *tables) ENSURE(read_profile_csv(text, "fuzz", table.model, resolve) == table);
  }
  if (const auto means = read_miso(text, "fuzz", {"m", 1})) ENSURE(!means->empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(bytes), size);
  read_all(text);
  read_all("Mig instance,Batch size,Workload Number,Throughput,Latency\n" + text);
  read_all("model,gpu,profile,batch,processes,requests_per_second,latency_ms\n" + text);
  read_all("model,batch,mig_slice,median_s_per_iter,mean_s_per_iter,n_iters\n" + text);
  return 0;
}
