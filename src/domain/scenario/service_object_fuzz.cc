// The input is the spec of a service. An accepted spec keeps the invariants of domain/values/service.h; a failure has a
// field.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/core/ensure.h"
#include "base/yaml/document.h"
#include "domain/mig/catalogue.h"
#include "domain/scenario/service_object.h"
#include "domain/trace/readers.h"

namespace {

using namespace berth;

Scenario fleet() {
  Scenario scenario;
  scenario.fleet = {{.model = mig::find_gpu_model("A30").value(), .count = 2, .usd_per_gpu_hour = {}}};
  return scenario;
}

void check(const ServiceSpec& service) {
  ENSURE(service.target.count() > 0 && service.weight.sign() > 0 && !service.table.points.empty());
  ENSURE(!service.arrivals.is_given() || service.arrivals.from_second < trace_seconds(service.arrivals));
  for (const Pin& pin : service.pins) ENSURE(pin.slice.gpu.index < 2);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static const Scenario scenario = fleet();
  const auto root = yaml::parse_document(std::string_view(reinterpret_cast<const char*>(bytes), size), "fuzz");
  if (!root) return 0;
  yaml::Report report("fuzz");
  const ServiceSpec service = scenario::read_service_object(yaml::Value(*root, report), scenario);
  if (report.has_failed()) {
    ENSURE(!report.parts().message.empty() && report.failure().message.substr(0, 5) == "fuzz:");
  } else {
    check(service);
  }
  return 0;
}
