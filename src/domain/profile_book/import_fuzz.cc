// Any bytes as a file of profiles: what is imported is exported with the same figures, which can be imported again.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/core/ensure.h"
#include "domain/profile_book/exported.h"
#include "domain/profile_book/imported.h"

namespace {

using namespace berth;

tl::expected<profile::ResolvedProfile, profile::UnresolvedProfile> plain_names(std::string_view gpu,
                                                                               std::string_view profile) {
  const bool is_plain = !gpu.empty() && !profile.empty() && gpu.find_first_of(",\":\r\n") == std::string_view::npos &&
                        profile.find_first_of(",\"\r\n") == std::string_view::npos;
  if (!is_plain) return tl::unexpected(profile::UnresolvedProfile{true, "no such GPU"});
  return profile::ResolvedProfile{std::string(gpu), std::string(profile)};
}

std::string export_of(std::vector<ProfileRun> runs) {
  for (std::size_t i = 0; i < runs.size(); ++i) runs[i].id = static_cast<std::int64_t>(i) + 1;
  const auto exported = profile_book::export_profiles(profile_book::points_in_force(runs, {}), {});
  ENSURE(exported.has_value());
  return exported->csv;
}

void import_and_export(const std::string& text) {
  const auto imported = profile_book::import_profiles(text, {.file = "fuzz.csv"}, plain_names);
  if (!imported) return;
  const std::string csv = export_of(imported->runs);
  const auto again = profile_book::import_profiles(csv, {.file = "fuzz.csv"}, plain_names);
  ENSURE(again.has_value());
  ENSURE(export_of(again->runs) == csv);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(bytes), size);
  import_and_export(text);
  import_and_export("Mig instance,Batch size,Workload Number,Throughput,Latency\n" + text);
  import_and_export("model,gpu,profile,batch,processes,requests_per_second,latency_ms\n" + text);
  return 0;
}
