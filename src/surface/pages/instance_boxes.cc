#include "surface/pages/instance_boxes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "base/core/figure_text.h"
#include "surface/pages/advise_report.h"
#include "surface/pages/chart.h"
#include "surface/pages/hues.h"
#include "surface/pages/page_parts.h"

namespace berth::report {
namespace {

using purchase::advise::AdviceCase;
using purchase::advise::Instance;
using purchase::advise::SeatedPod;

/// A pod's request for GPUs, which determines its colour.
struct GpuAsk {
  int gpus = 0;
  int milli = 0;  ///< of each

  friend auto operator<=>(const GpuAsk&, const GpuAsk&) = default;
};

GpuAsk ask_of(const Pod& pod) { return {.gpus = pod.gpu_count, .milli = pod.gpu_milli}; }

/// Numbers the requests, the most frequent first.
std::map<GpuAsk, std::size_t> hues_of_asks(std::span<const Pod> pods) {
  std::map<GpuAsk, std::int64_t> counts;
  for (const Pod& pod : pods) ++counts[ask_of(pod)];
  std::vector<std::pair<std::int64_t, GpuAsk>> order;
  order.reserve(counts.size());
  for (const auto& [ask, count] : counts) order.emplace_back(-count, ask);
  std::ranges::sort(order);
  std::map<GpuAsk, std::size_t> hues;
  for (const auto& [count, ask] : order) hues.emplace(ask, hues.size());
  return hues;
}

std::string share_of_gpu(int milli) { return Decimal(milli, 1000).to_string(); }

std::string ask_text(const GpuAsk& ask) {
  if (ask.gpus == 0) return "no GPU";
  if (ask.milli < 1000) return share_of_gpu(ask.milli) + " of a GPU";
  return ask.gpus == 1 ? "1 GPU" : fmt::format("{} GPUs", ask.gpus);
}

/// A part of a bar or of a column that a pod takes.
struct Part {
  std::size_t hue = 0;
  std::int64_t amount = 0;

  friend auto operator<=>(const Part&, const Part&) = default;
};

/// The content of a picture, shared by equal fillings of one offer.
struct Filling {
  pricing::OfferKey offer;
  std::vector<std::vector<Part>> gpus;  ///< thousandths; fullest first
  std::vector<Part> cpu_milli;
  std::vector<Part> memory_mib;

  friend auto operator<=>(const Filling&, const Filling&) = default;
};

Filling filling_of(const AdviceCase& advice_case, const Instance& instance, const std::map<GpuAsk, std::size_t>& hues) {
  Filling filling{.offer = instance.offer.key,
                  .gpus = std::vector<std::vector<Part>>(static_cast<std::size_t>(instance.offer.shape.gpu_count)),
                  .cpu_milli = {},
                  .memory_mib = {}};
  for (const SeatedPod& seat : instance.pods) {
    const Pod& pod = advice_case.pods[seat.row];
    const std::size_t hue = hues.at(ask_of(pod));
    for (const int gpu : seat.gpus) {
      filling.gpus[static_cast<std::size_t>(gpu)].push_back({.hue = hue, .amount = pod.gpu_milli});
    }
    if (pod.cpu_milli > 0) filling.cpu_milli.push_back({.hue = hue, .amount = pod.cpu_milli});
    if (pod.memory_mib > 0) filling.memory_mib.push_back({.hue = hue, .amount = pod.memory_mib});
  }
  for (auto& parts : filling.gpus) std::ranges::sort(parts);
  const auto used = [](const std::vector<Part>& parts) {
    std::int64_t sum = 0;
    for (const Part& part : parts) sum += part.amount;
    return sum;
  };
  std::ranges::sort(filling.gpus, {}, [&](const auto& parts) { return std::pair(-used(parts), parts); });
  std::ranges::sort(filling.cpu_milli);
  std::ranges::sort(filling.memory_mib);
  return filling;
}

/// Instances that are filled alike.
struct FilledGroup {
  Filling filling;
  std::vector<const Instance*> instances;
};

/// The groups, in the order of their first instances.
std::vector<FilledGroup> filled_groups(const AdviceCase& advice_case) {
  const auto hues = hues_of_asks(advice_case.pods);
  std::map<Filling, std::size_t> places;
  std::vector<FilledGroup> groups;
  for (const Instance& instance : advice_case.advice.instances) {
    Filling filling = filling_of(advice_case, instance, hues);
    const auto [place, is_new] = places.emplace(filling, groups.size());
    if (is_new) groups.push_back({.filling = std::move(filling), .instances = {}});
    groups[place->second].instances.push_back(&instance);
  }
  return groups;
}

// Drawing

constexpr double kBoxWidth = 320;
constexpr double kGpuHeight = 76;
constexpr double kBarLeft = 52;
constexpr double kBarRight = 214;

std::string box_geometry(double x, double y, double width, double height) {
  return fmt::format(R"(x="{}" y="{}" width="{}" height="{}")", position(x), position(y), position(width),
                     position(height));
}

/// A GPU as a column, filled from below.
std::string gpu_column(const std::vector<Part>& parts, double left, double width) {
  constexpr double kLabelHeight = 13;
  constexpr double kLabelWidth = 26;
  std::string svg = fmt::format(R"(<rect class="lane" {} rx="2"/>)", box_geometry(left, 0, width, kGpuHeight));
  double bottom = kGpuHeight;
  for (const Part& part : parts) {
    const double height = kGpuHeight * static_cast<double>(part.amount) / 1000;
    bottom -= height;
    svg += coloured_box(part.hue, box_geometry(left, bottom, width, height));
    if (height < kLabelHeight || width < kLabelWidth) continue;
    svg += fmt::format(R"(<text class="label" x="{}" y="{}" text-anchor="middle" style="{}">{}</text>)",
                       position(left + width / 2), position(bottom + height / 2 + 4), letters_on(part.hue),
                       share_of_gpu(static_cast<int>(part.amount)));
  }
  return svg;
}

std::string gpu_columns(const Filling& filling) {
  constexpr double kGap = 4;
  constexpr double kWidest = 64;
  const auto count = static_cast<double>(filling.gpus.size());
  const double width = std::min(kWidest, (kBoxWidth - kGap * (count - 1)) / count);
  std::string svg;
  double left = 0;
  for (const auto& parts : filling.gpus) {
    svg += gpu_column(parts, left, width);
    left += width + kGap;
  }
  return svg;
}

/// A bar with the parts of `whole` that pods take, and a text.
std::string taken_bar(std::string_view name, const std::vector<Part>& parts, std::int64_t whole, double top,
                      const std::string& words) {
  constexpr double kHeight = 12;
  std::string svg = fmt::format(R"(<text x="0" y="{}">{}</text><rect class="lane" {} rx="2"/>)", position(top + 10),
                                name, box_geometry(kBarLeft, top, kBarRight - kBarLeft, kHeight));
  double left = kBarLeft;
  for (const Part& part : parts) {
    const double width = (kBarRight - kBarLeft) * static_cast<double>(part.amount) / static_cast<double>(whole);
    svg += coloured_box(part.hue, box_geometry(left, top, width, kHeight));
    left += width;
  }
  return svg + fmt::format(R"(<text class="figure" x="{}" y="{}" text-anchor="end">{}</text>)", kBoxWidth,
                           position(top + 10), words);
}

/// "24 of 48 vCPU".
std::string taken_words(const std::vector<Part>& parts, std::int64_t whole, std::int64_t per_unit,
                        std::string_view unit) {
  std::int64_t taken = 0;
  for (const Part& part : parts) taken += part.amount;
  const auto units = [per_unit](std::int64_t amount) {
    return separated(fmt::format("{:.4g}", static_cast<double>(amount) / static_cast<double>(per_unit)));
  };
  return fmt::format("{} of {} {}", units(taken), units(whole), unit);
}

/// The names of pods, as many as fit.
std::string pod_names(const AdviceCase& advice_case, const std::vector<const Instance*>& instances) {
  constexpr std::size_t kNamed = 6;
  std::string text;
  std::size_t count = 0;
  for (const Instance* instance : instances) {
    for (const SeatedPod& seat : instance->pods) {
      if (++count <= kNamed) text += (text.empty() ? "" : ", ") + html_escaped(advice_case.pods[seat.row].name);
    }
  }
  if (count > kNamed) text += fmt::format(" and {} more", with_separators(static_cast<std::int64_t>(count - kNamed)));
  return text;
}

std::string where_text(const pricing::Offer& offer) {
  const pricing::Shape& shape = offer.shape;
  std::string gpus = fmt::format("{} × {}", shape.gpu_count, shape.gpu_model);
  if (shape.gpu_memory_mib > 0) {
    gpus += fmt::format(" of {:.4g} GiB", static_cast<double>(shape.gpu_memory_mib) / 1024);
  }
  return html_escaped(
      fmt::format("{}, {}, {}; {}", offer.key.provider, offer.key.region, pricing::name_of(offer.key.purchase), gpus));
}

std::string box_figure(const AdviceCase& advice_case, const FilledGroup& group) {
  const pricing::Offer& offer = group.instances.front()->offer;
  constexpr std::int64_t kMilli = 1000;
  constexpr std::int64_t kMibPerGib = 1024;
  const std::size_t count = group.instances.size();
  const double cpu_top = kGpuHeight + 10;
  const double memory_top = cpu_top + 18;
  const std::string svg = gpu_columns(group.filling) +
                          taken_bar("CPU", group.filling.cpu_milli, offer.shape.vcpu_milli, cpu_top,
                                    taken_words(group.filling.cpu_milli, offer.shape.vcpu_milli, kMilli, "vCPU")) +
                          taken_bar("Memory", group.filling.memory_mib, offer.shape.memory_mib, memory_top,
                                    taken_words(group.filling.memory_mib, offer.shape.memory_mib, kMibPerGib, "GiB"));
  return fmt::format(
      "<figure class=\"instance\"><figcaption><b>{}{}</b><span>{} an hour{}</span></figcaption><p>{}</p>"
      "<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"What fills {}\">{}</svg><p>{}</p></figure>\n",
      count == 1 ? "" : fmt::format("{} × ", count), html_escaped(offer.key.instance_type),
      dollars(offer.micro_usd_per_hour.value_or(0)), count == 1 ? "" : " each", where_text(offer), kBoxWidth,
      position(memory_top + 14), html_escaped(offer.key.instance_type), svg, pod_names(advice_case, group.instances));
}

}  // namespace

std::string instance_figures(const AdviceCase& advice_case) {
  std::string figures;
  std::size_t drawn = 0;
  for (const FilledGroup& group : filled_groups(advice_case)) {
    if (++drawn > kAdvicePicturesMax) break;
    figures += box_figure(advice_case, group);
  }
  return figures;
}

std::size_t filling_count(const AdviceCase& advice_case) { return filled_groups(advice_case).size(); }

std::string pod_key(const AdviceCase& advice_case) {
  constexpr std::size_t kListed = 32;  // as many as there are colours with patterns
  std::string items;
  std::size_t listed = 0;
  const auto hues = hues_of_asks(advice_case.pods);
  for (const auto& [ask, hue] : hues) {  // by request; those that share a colour with an earlier one are only counted
    if (hue >= kListed) continue;
    items += key_item(coloured_box(hue, R"(width="16" height="12")"), ask_text(ask));
    ++listed;
  }
  if (listed < hues.size()) items += fmt::format("<li>and {} other shares</li>", hues.size() - listed);
  items += key_item(R"(<rect class="lane" width="16" height="12"/>)", "free");
  return "<ul class=\"key\" aria-label=\"Legend\">" + items + "</ul>";
}

}  // namespace berth::report
