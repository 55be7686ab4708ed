#include "surface/cli/profile/profile_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/core/figure_text.h"
#include "surface/cli/shared/text_table.h"
#include "surface/figures/optimize_words.h"

namespace berth::cli {
namespace {

using figures::bytes_text;
using figures::duration_text;

std::string operations_text(std::int64_t flops) {
  constexpr double kThousand = 1000;
  double value = static_cast<double>(flops);
  for (const char* const unit : {"FLOP", "kFLOP", "MFLOP", "GFLOP"}) {
    if (value < kThousand) return fmt::format("{} {}", significant(value), unit);
    value /= kThousand;
  }
  return fmt::format("{} TFLOP", significant(value));
}

std::string profiled_text(const ProfiledModel& model) {
  constexpr std::size_t kSumDigits = 12;
  if (!model.url.empty()) return fmt::format("{} of {}", model.name, model.url);
  return fmt::format("{} ({}, SHA-256 {}): for a row {} and {} of activations; {} parameters, {} of weights",
                     model.name, bytes_text(model.file_bytes), model.sha256.substr(0, kSumDigits),
                     shown(model.flops, operations_text), shown(model.activation_bytes, bytes_text),
                     shown(model.parameters, with_separators), shown(model.weight_bytes, bytes_text));
}

std::string machine_text(const ProfileRun& run) {
  const ProfilingMachine& machine = run.machine;
  std::string text = machine.device.empty() ? "a server" : machine.device;
  for (const std::string* const part : {&machine.processor, &machine.engine}) {
    if (!part->empty()) text += ", " + *part;
  }
  if (!run.label.empty()) text += ", as " + run.label;
  if (run.memory_at_load_bytes)
    text += fmt::format("; {} with the model loaded", bytes_text(*run.memory_at_load_bytes));
  return text;
}

std::vector<std::string> point_row(const ProfilePoint& point) {
  std::vector<std::string> row = {fmt::format("{}", point.batch), fmt::format("{}", point.processes)};
  if (!point.fits) {
    row.emplace_back("does not fit");
    row.insert(row.end(), 6, std::string(kAbsentText));
    return row;
  }
  row.push_back(significant(point.rows_per_second));
  row.push_back(duration_text(point.mean_us) + (point.is_short ? "*" : ""));
  row.push_back(fmt::format("{} to {}", duration_text(point.mean_us_low), duration_text(point.mean_us_high)));
  row.push_back(duration_text(point.p50_us));
  row.push_back(duration_text(point.p99_us));
  row.push_back(with_separators(point.batches));
  row.push_back(shown(point.memory_bytes, bytes_text));
  return row;
}

}  // namespace

std::string profile_table(const ProfileRun& run, const std::string& database, bool has_colour) {
  std::string text = wrapped(profiled_text(run.model)) + "\n" + wrapped(machine_text(run)) + "\n\n";
  const char* const lanes = run.model.url.empty() ? "processes" : "connections";
  std::vector<std::vector<std::string>> rows = {
      {"batch", lanes, "rows/s", "mean", "95 % interval", "p50", "p99", "batches", "memory"}};
  for (const ProfilePoint& point : run.points) rows.push_back(point_row(point));
  text += styled_table(rows, has_colour);
  text += '\n';
  if (run.fixed_batch > 0) {
    text +=
        fmt::format("The first dimension of the inputs is fixed: only a batch of {} was measured.\n", run.fixed_batch);
  }
  if (std::ranges::any_of(run.points, &ProfilePoint::is_short)) {
    text += "* the interval of the mean is wider than 2 %: three times --seconds were over\n";
  }
  return text + wrapped(fmt::format("Run {} in {}.", run.id, database)) + "\n";
}

}  // namespace berth::cli
