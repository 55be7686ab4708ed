// The input is a scenario's text; the files that it may name are small and served from memory by the end of their path.
// An accepted scenario keeps the invariants of domain/values/scenario.h.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/core/ensure.h"
#include "domain/mig/geometry.h"
#include "domain/scenario/load.h"
#include "domain/trace/readers.h"

namespace {

using namespace berth;

class FuzzFiles : public Files {
 public:
  explicit FuzzFiles(std::string scenario) : scenario_(std::move(scenario)) {}
  [[nodiscard]] Result<std::string> read(const std::string& path) const override {
    if (path == "s.yaml") return scenario_;
    if (path == "p")
      return "model,gpu,profile,batch,processes,requests_per_second,latency_ms\nm,A30,1g.6gb,1,1,10,20\n";
    if (path == "v") return "Mig instance,Batch size,Workload Number,Throughput,Latency\n7,1,2,10,0.02\n";
    if (path == "i") return "model,batch,mig_slice,median_s_per_iter,mean_s_per_iter,n_iters\nm,2,7g.40gb,9,0.1,9\n";
    if (path == "r") return "1\n2\n3\n";
    if (path == "c") return "second,requests\n0,5\n9,7\n";
    if (path == "l") return "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46.6805900,374,44\n";
    if (path == "f") return "HashOwner,HashApp,HashFunction,Trigger,1,2\no,a,f,http,3,4\n";
    return fail(ErrorCode::kNotFound, path + ": no such file");
  }
  [[nodiscard]] Result<std::optional<std::vector<std::string>>> list(const std::string& /*path*/) const override {
    return std::nullopt;
  }

 private:
  std::string scenario_;
};

void check(const Scenario& scenario) {
  ENSURE(!scenario.interference.empty() && scenario.gpus_per_node > 0);
  ENSURE(scenario.window_seconds > 0 && scenario.history_seconds >= 0);
  ENSURE(scenario.services.empty() == (scenario.simulated_seconds() == 0));
  for (const ServiceSpec& service : scenario.services) {
    ENSURE(!service.name.empty() && service.target.count() > 0 && service.weight.sign() > 0);
    ENSURE(!service.table.points.empty() && service.arrivals.seconds > 0);
    ENSURE(service.arrivals.from_second < trace_seconds(service.arrivals));
    if (service.retraining) ENSURE(service.retraining->every.count() > 0);
  }
  if (!scenario.layout) return;
  for (const Holding& holding : *scenario.layout) {
    const Slice& slice = holding.slice;
    ENSURE(!mig::find_clash(scenario.model_of(slice.gpu), {{slice.start, slice.profile}}));
    for (const ServiceId service : holding.services) ENSURE(service.index < scenario.services.size());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const FuzzFiles files(std::string(reinterpret_cast<const char*>(bytes), size));
  const auto scenario = scenario::load_scenario("s.yaml", files);
  if (scenario) {
    check(*scenario);
    ENSURE(scenario->gpu_count() > 0 && !scenario->services.empty());
  }
  const auto relaxed = scenario::load_scenario("s.yaml", files, {.allows_empty = true});
  ENSURE(relaxed.has_value() || !scenario.has_value());
  if (relaxed) check(*relaxed);
  return 0;
}
