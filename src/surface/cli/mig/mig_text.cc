#include "surface/cli/mig/mig_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/core/ensure.h"
#include "domain/mig/catalogue.h"
#include "domain/values/scenario.h"
#include "surface/cli/shared/text_table.h"

namespace berth::cli {

Result<GpuModel> gpu_option(const std::string& name) {
  auto model = mig::find_gpu_model(name);
  if (!model) return invalid("--gpu: " + model.error().message);
  return model;
}

void write_state(json::Writer& json, const GpuModel& model, const mig::State& state) {
  json.list(state, [&](json::Writer& to, const mig::Placement& placement) {
    to.open_object().member("profile", profile_name(model, placement.profile)).member("start", placement.start);
    to.close_object();
  });
}

std::string unit_strip(const GpuModel& model, const mig::State& state) {
  std::string strip(static_cast<std::size_t>(model.units), '.');
  for (const mig::Placement& placement : state) {
    if (placement.profile.is_full()) return kFullProfileName;
    const MigProfile& profile = model.profiles[placement.profile.index];
    const auto start = static_cast<std::size_t>(placement.start);
    strip.replace(start, static_cast<std::size_t>(profile.length), static_cast<std::size_t>(profile.length), '-');
    strip[start] = static_cast<char>('0' + profile.compute_slices);
  }
  return strip;
}

std::string with_last_column(const std::vector<std::vector<std::string>>& rows, const std::vector<std::string>& texts) {
  ENSURE(rows.size() == texts.size());
  const std::vector<std::string> lines = aligned(rows);
  std::size_t width = 0;
  for (const std::string& line : lines) width = std::max(width, line.size());
  std::string text;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    text += texts[i].empty() ? lines[i] + "\n" : fmt::format("{:<{}}  {}\n", lines[i], width, texts[i]);
  }
  return text;
}

}  // namespace berth::cli
