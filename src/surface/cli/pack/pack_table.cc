#include "surface/cli/pack/pack_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "domain/mig/geometry.h"
#include "domain/values/gpu_name.h"
#include "domain/values/scenario.h"
#include "surface/cli/mig/mig_text.h"
#include "surface/cli/pack/transition_table.h"
#include "surface/cli/shared/text_table.h"

namespace berth::cli {
namespace {

using Cells = std::vector<std::string>;

/// A name on one line; control bytes become '?'.
std::string plain_name(const std::string& name) { return wrapped(name, std::string::npos - 1); }

std::string counted(std::int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", with_separators(count), noun, count == 1 ? "" : "s");
}

/// The rate as written if that is short, else with three significant digits.
std::string rate_text(const Decimal& rate) {
  constexpr std::size_t kShort = 9;
  const std::string exact = rate.to_string();
  return exact.size() <= kShort ? exact : fmt::format("{:.3f}", rate.to_double());
}

// The size of the plan

/// "2 A100-80GB, 1 A30-24GB".
std::string gpus_text(const PackAnswer& answer) {
  std::vector<std::int64_t> counts(answer.problem.offers.size());
  for (const std::uint32_t offer : answer.result.packing.gpu_offers) ++counts[offer];
  std::string text;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", with_separators(counts[i]),
                        answer.problem.offers[i].model.name);
  }
  return text;
}

/// "0.30 %": the largest possible distance of an unproven plan from the best.
std::string gap_text(std::int64_t value, std::int64_t bound) {
  return fmt::format(
      "{:.2f} %", 100.0 * static_cast<double>(value - bound) / static_cast<double>(std::max<std::int64_t>(value, 1)));
}

std::string counted_nodes(std::int64_t nodes) { return counted(nodes, "node") + (nodes == 1 ? " was" : " were"); }

std::string proof_text(const PackAnswer& answer) {
  const packing::PackResult& result = answer.result;
  const bool is_priced = answer.is_priced();
  if (result.is_proven) return is_priced ? "proven: no mix is cheaper" : "proven: fewer GPUs cannot serve them";
  const std::int64_t value = is_priced ? result.score.micro_usd_per_hour.value_or(0) : result.score.gpus;
  const std::string bound = is_priced ? dollars(result.bound) + " an hour" : with_separators(result.bound);
  return fmt::format("not proven: at least {} {} needed, a gap of {}. {} searched; --nodes N searches further", bound,
                     is_priced || result.bound == 1 ? "is" : "are", gap_text(value, result.bound),
                     counted_nodes(result.nodes));
}

std::string headline_text(const PackAnswer& answer) {
  const packing::PackScore& score = answer.result.score;
  const std::string demands = counted(std::ssize(answer.problem.demands), "demand");
  if (score.gpus == 0) return "0 GPUs, proven: no demand has a rate";
  const std::string gpus = gpus_text(answer);
  if (!answer.is_priced())
    return fmt::format("{} {} {}; {}", gpus, score.gpus == 1 ? "serves" : "serve", demands, proof_text(answer));
  return fmt::format("{} an hour ({}) serves {}; {}", dollars(score.micro_usd_per_hour.value_or(0)), gpus, demands,
                     proof_text(answer));
}

std::string place_text(const PackAnswer& answer, const Slice& slice) {
  return fmt::format("{}@{}", profile_name(answer.model_of(slice.gpu), slice.profile), slice.start);
}

/// The further objectives: the largest free slice and the number of slices.
std::string refinement_text(const PackAnswer& answer) {
  const packing::PackResult& result = answer.result;
  const auto& free = result.score.largest_free;
  std::string text = answer.transition == nullptr ? "" : "with the fewest changes; ";
  text += "largest free slice: ";
  const char* proven = result.is_largest_free_proven ? "proven" : "not proven";
  text += free
              ? fmt::format("{} on {} ({} to be the largest); ", place_text(answer, *free), gpu_name(free->gpu), proven)
              : fmt::format("none ({}); ", proven);
  return text + fmt::format("{} ({})", counted(result.score.slices, "slice"),
                            result.is_slice_count_proven ? "proven to be the fewest for that free slice"
                                                         : "not proven to be the fewest");
}

// GPUs

struct GpuLine {
  std::string model;
  std::string strip;
  std::string slices;
  friend bool operator==(const GpuLine&, const GpuLine&) = default;
};

std::string demand_name_text(const Demand& demand) {
  if (demand.tenant == demand.model) return plain_name(demand.model);
  return plain_name(demand.tenant) + "/" + plain_name(demand.model);
}

std::string packed_text(const PackAnswer& answer, const PackedSlice& packed) {
  return fmt::format("{} {} {}x{}", place_text(answer, packed.slice),
                     demand_name_text(answer.problem.demands[packed.demand]), packed.batch, packed.processes);
}

std::vector<GpuLine> gpu_lines(const PackAnswer& answer) {
  const std::size_t count = answer.result.packing.gpu_offers.size();
  std::vector<GpuLine> lines(count);
  std::vector<mig::State> states(count);
  for (const PackedSlice& packed : answer.result.packing.slices) {
    GpuLine& line = lines[packed.slice.gpu.index];
    states[packed.slice.gpu.index].push_back({packed.slice.start, packed.slice.profile});
    line.slices += (line.slices.empty() ? "" : ", ") + packed_text(answer, packed);
  }
  for (const Slice& slice : answer.result.unused) {
    GpuLine& line = lines[slice.gpu.index];
    const bool is_first = line.slices.find("; free ") == std::string::npos;
    line.slices += (is_first ? "; free " : ", ") + place_text(answer, slice);
  }
  for (std::uint32_t gpu = 0; gpu < count; ++gpu) {
    const GpuModel& model = answer.model_of(GpuId{gpu});
    lines[gpu].model = model.name;
    lines[gpu].strip = unit_strip(model, states[gpu]);
  }
  return lines;
}

std::string gpu_range_text(std::uint32_t first, std::uint32_t last) {
  return first == last ? gpu_name({first}) : fmt::format("{} to {}", gpu_name({first}), gpu_name({last}));
}

std::string gpu_table(const PackAnswer& answer) {
  const std::vector<GpuLine> lines = gpu_lines(answer);
  const bool has_models = answer.problem.offers.size() > 1;
  std::vector<Cells> rows = {has_models ? Cells{"GPU", "model", "units"} : Cells{"GPU", "units"}};
  std::vector<std::string> texts = {"slices: model batch x processes"};
  for (std::uint32_t first = 0, next = 0; first < lines.size(); first = next) {
    while (next < lines.size() && lines[next] == lines[first]) ++next;
    const std::string names = gpu_range_text(first, next - 1);
    rows.push_back(has_models ? Cells{names, lines[first].model, lines[first].strip}
                              : Cells{names, lines[first].strip});
    texts.push_back(lines[first].slices);
  }
  const std::vector<std::string> left = aligned(rows);
  std::size_t width = 0;
  for (const std::string& line : left) width = std::max(width, line.size());
  const std::size_t room = kLineWidthMax > width + 42 ? kLineWidthMax - width - 2 : 40;
  std::string text;
  for (std::size_t i = 0; i < left.size(); ++i) {
    std::string body = wrapped(texts[i], room);
    for (std::size_t at = body.find('\n'); at != std::string::npos; at = body.find('\n', at + 1)) {
      body.insert(at + 1, width + 2, ' ');
    }
    text += fmt::format("{:<{}}  {}\n", left[i], width, body);
  }
  return text;
}

// Demands

/// The slices of one demand, summed.
struct DemandSum {
  Decimal given;
  std::map<std::string, std::int64_t> kinds;  ///< number of slices by profile name
};

std::vector<DemandSum> demand_sums(const PackAnswer& answer) {
  std::vector<DemandSum> sums(answer.problem.demands.size());
  for (const PackedSlice& packed : answer.result.packing.slices) {
    sums[packed.demand].given += packed.requests_per_second;
    ++sums[packed.demand].kinds[profile_name(answer.model_of(packed.slice.gpu), packed.slice.profile)];
  }
  return sums;
}

std::string kinds_text(const DemandSum& sum) {
  std::string text;
  for (const auto& [name, count] : sum.kinds) text += fmt::format("{}{} x{}", text.empty() ? "" : ", ", name, count);
  return text;
}

Cells demand_cells(const PackAnswer& answer, std::size_t index, const DemandSum& sum) {
  const Demand& demand = answer.problem.demands[index];
  const Decimal wanted = demand.requests_per_second * answer.problem.rules.headroom;
  Cells cells = {demand_name_text(demand), rate_text(demand.latency_ms), rate_text(demand.requests_per_second)};
  if (answer.problem.rules.headroom != Decimal(1)) cells.push_back(rate_text(wanted));
  cells.push_back(rate_text(sum.given));
  if (answer.replay != nullptr) {
    const study::DemandFigures& figures = answer.replay->demands[index];
    cells.push_back(shown(figures.load, percent));
    cells.push_back(shown(figures.slo_attainment, percent));
    cells.push_back(shown(figures.latency_p99_ms, significant));
  }
  return cells;
}

std::string demand_table(const PackAnswer& answer) {
  Cells head = {"demand", "target ms", "rate/s"};
  if (answer.problem.rules.headroom != Decimal(1)) head.emplace_back("wanted/s");
  head.emplace_back("given/s");
  if (answer.replay != nullptr) head.insert(head.end(), {"load", "in time", "p99 ms"});
  std::vector<Cells> rows = {std::move(head)};
  std::vector<std::string> texts = {"slices"};
  const std::vector<DemandSum> sums = demand_sums(answer);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    rows.push_back(demand_cells(answer, i, sums[i]));
    texts.push_back(sums[i].kinds.empty() ? std::string(kAbsentText) : kinds_text(sums[i]));
  }
  return with_last_column(rows, texts);
}

// What to try next

std::string last_line(const PackAnswer& answer) {
  if (answer.replay == nullptr)
    return "More: --verify (random arrivals), --format json, --report DIR (a page with charts)";
  const study::PackingReplay& replay = *answer.replay;
  const auto count = std::ranges::count_if(replay.demands, study::is_short_of_room);
  std::string text = fmt::format(
      "load, in time, p99: Poisson arrivals at the stated rates, {} s with each of the seeds {}{}. ", replay.seconds,
      fmt::join(replay.seeds, ", "), replay.fidelity == Fidelity::kRates ? ", large demands by rates" : "");
  if (count == 0) return text + "Every demand has at least 99 % in time.";
  text +=
      fmt::format("{} below 99 % in time, at full capacity", counted(count, "demand") + (count == 1 ? " is" : " are"));
  if (answer.cure == nullptr) return text + ": --cure finds the headroom that is needed.";
  text += fmt::format("; --headroom {} brings every demand to 99 %, with {}", answer.cure->headroom.to_string(),
                      counted(answer.cure->gpus, "GPU"));
  const auto& money = answer.cure->micro_usd_per_hour;
  return text + (money ? fmt::format(" for {} an hour.", dollars(*money)) : ".");
}

}  // namespace

std::string pack_table(const PackAnswer& answer) {
  std::string text = wrapped(headline_text(answer)) + "\n";
  if (answer.result.score.gpus > 0) text += wrapped(refinement_text(answer)) + "\n\n" + gpu_table(answer);
  if (!answer.problem.demands.empty()) text += "\n" + demand_table(answer);
  if (answer.transition != nullptr) text += "\n" + transition_table(answer.problem, *answer.transition);
  return text + "\n" + wrapped(last_line(answer)) + "\n";
}

}  // namespace berth::cli
