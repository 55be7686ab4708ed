#include "gpu/nvml_sim/testing/known_gpus.h"

#include <array>
#include <cmath>
#include <cstddef>

namespace berth::nvml_sim::testing {
namespace {

constexpr double kNotKnown = 0;

/// Memory as `nvidia-smi mig -lgip` lists it, GiB with two decimals.
std::optional<int> mib(double gib) {
  if (gib == kNotKnown) return std::nullopt;
  return static_cast<int>(std::lround(gib * 1024));
}

std::vector<int> steps(int first, int step, int count) {
  std::vector<int> starts;
  starts.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) starts.push_back(first + i * step);
  return starts;
}

/// Names and memory of the sizes 1g, 1g with double memory, 2g, 3g, 4g, 7g.
struct Size {
  const char* name;
  double gib;
};
using Sizes = std::array<Size, 6>;
/// Engines of 1g, 1g+me, 1g with double memory, 2g, 3g, 4g, 7g.
using EnginesBySize = std::array<KnownEngines, 7>;

constexpr EnginesBySize kAmpereEngines = {{{1, 0, 0, 0, 0},
                                           {1, 1, 0, 1, 1},
                                           {1, 1, 0, 0, 0},
                                           {2, 1, 0, 0, 0},
                                           {3, 2, 0, 0, 0},
                                           {4, 2, 0, 0, 0},
                                           {7, 5, 0, 1, 1}}};
constexpr EnginesBySize kHopperEngines = {{{1, 1, 0, 1, 0},
                                           {1, 1, 0, 1, 1},
                                           {1, 1, 0, 1, 0},
                                           {2, 2, 0, 2, 0},
                                           {3, 3, 0, 3, 0},
                                           {4, 4, 0, 4, 0},
                                           {8, 7, 0, 7, 1}}};
// Above 2g only the copy engines of the B200 are known; the GB200 is assumed to be equal.
constexpr EnginesBySize kBlackwellEngines = {{{2, 1, 0, 1, 0},
                                              {2, 1, 0, 1, 1},
                                              {2, 1, 0, 1, 0},
                                              {4, 2, 0, 2, 0},
                                              {6, {}, 0, {}, 0},
                                              {8, {}, 0, {}, 0},
                                              {16, {}, 0, {}, 1}}};

/// Eight memory slices, seven compute slices.
KnownGpu seven_slices(const char* model, int gigabytes, const Sizes& sizes, const EnginesBySize& engines) {
  const auto& [one, one_double, two, three, four, seven] = sizes;
  KnownGpu gpu{.model = model, .gigabytes = gigabytes, .slices = 7, .units = 8};
  gpu.profiles = {
      {one.name, 0, 19, 1, 1, steps(0, 1, 7), 7, engines[0], mib(one.gib)},
      {std::string(one.name) + "+me", 7, 20, 1, 1, steps(0, 1, 7), 1, engines[1], mib(one.gib)},
      {one_double.name, 9, 15, 1, 2, steps(0, 2, 4), 4, engines[2], mib(one_double.gib)},
      {two.name, 1, 14, 2, 2, steps(0, 2, 3), 3, engines[3], mib(two.gib)},
      {three.name, 2, 9, 3, 4, steps(0, 4, 2), 2, engines[4], mib(three.gib)},
      {four.name, 3, 5, 4, 4, {0}, 1, engines[5], mib(four.gib)},
      {seven.name, 4, 0, 7, 8, {0}, 1, engines[6], mib(seven.gib)},
  };
  return gpu;
}

KnownGpu a30() {
  KnownGpu gpu{.model = "A30-24GB", .gigabytes = 24, .slices = 4, .units = 4, .is_ampere = true};
  gpu.profiles = {
      {"1g.6gb", 0, 14, 1, 1, steps(0, 1, 4), 4, {1, 1, 0, 0, 0}, mib(5.81)},
      {"1g.6gb+me", 7, 21, 1, 1, steps(0, 1, 4), 1, {1, 1, 0, 1, 1}, mib(5.81)},
      {"2g.12gb", 1, 5, 2, 2, {0, 2}, 2, {2, 2, 0, 0, 0}, mib(11.69)},
      {"2g.12gb+me", 8, 6, 2, 2, {0, 2}, 1, {2, 2, 0, 1, 1}, mib(11.69)},
      {"4g.24gb", 3, 0, 4, 4, {0}, 1, {4, 4, 0, 1, 1}, mib(23.44)},
  };
  return gpu;
}

KnownGpu rtx_pro_6000() {
  KnownGpu gpu{.model = "RTX-PRO-6000-Blackwell-96GB", .gigabytes = 96, .slices = 4, .units = 12};
  const std::vector<int> quarters = steps(0, 3, 4);
  const std::vector<int> halves = {0, 6};
  gpu.profiles = {
      {"1g.24gb", 0, 14, 1, 3, quarters, 4, {1, 1, 1, 1, 0}, mib(23.62)},
      {"1g.24gb+me", 7, 21, 1, 3, quarters, 1, {1, 1, 1, 1, 1}, mib(23.62)},
      {"1g.24gb+gfx", 10, 47, 1, 3, quarters, 4, {1, 1, 1, 1, 0}, mib(23.62)},
      {"1g.24gb+me.all", 15, 65, 1, 3, quarters, 1, {1, 4, 4, 4, 1}, mib(23.62)},
      {"1g.24gb-me", 13, 67, 1, 3, quarters, 4, {1, 0, 0, 0, 0}, mib(23.62)},
      {"2g.48gb", 1, 5, 2, 6, halves, 2, {2, 2, 2, 2, 0}, mib(47.38)},
      {"2g.48gb+gfx", 11, 35, 2, 6, halves, 2, {2, 2, 2, 2, 0}, mib(47.38)},
      {"2g.48gb+me.all", 16, 64, 2, 6, halves, 1, {2, 4, 4, 4, 1}, mib(47.38)},
      {"2g.48gb-me", 14, 66, 2, 6, halves, 2, {2, 0, 0, 0, 0}, mib(47.38)},
      {"4g.96gb", 3, 0, 4, 12, {0}, 1, {4, 4, 4, 4, 1}, mib(95.12)},
      {"4g.96gb+gfx", 12, 32, 4, 12, {0}, 1, {4, 4, 4, 4, 1}, mib(95.12)},
  };
  return gpu;
}

KnownGpu a100(const char* model, int gigabytes, const Sizes& sizes) {
  KnownGpu gpu = seven_slices(model, gigabytes, sizes, kAmpereEngines);
  gpu.is_ampere = true;
  return gpu;
}

KnownGpu h100_80gb(const char* model) {
  return seven_slices(model, 80,
                      {{{"1g.10gb", 9.75},
                        {"1g.20gb", 19.62},
                        {"2g.20gb", 19.62},
                        {"3g.40gb", 39.50},
                        {"4g.40gb", 39.50},
                        {"7g.80gb", 79.25}}},
                      kHopperEngines);
}

std::vector<KnownGpu> typed_gpus() {
  std::vector<KnownGpu> gpus;
  gpus.push_back(a100("A100-40GB", 40,
                      {{{"1g.5gb", 4.75},
                        {"1g.10gb", 9.62},
                        {"2g.10gb", 9.62},
                        {"3g.20gb", 19.50},
                        {"4g.20gb", 19.50},
                        {"7g.40gb", 39.25}}}));
  gpus.push_back(a100("A100-80GB", 80,
                      {{{"1g.10gb", 9.50},
                        {"1g.20gb", 19.50},
                        {"2g.20gb", 19.50},
                        {"3g.40gb", 39.25},
                        {"4g.40gb", 39.25},
                        {"7g.80gb", 78.50}}}));
  gpus.push_back(a30());
  gpus.push_back(h100_80gb("H100-80GB-SXM5"));
  gpus.push_back(h100_80gb("H100-80GB-PCIe"));
  gpus.push_back(seven_slices("H100-94GB-NVL", 94,
                              {{{"1g.12gb", 10.62},
                                {"1g.24gb", 21.50},
                                {"2g.24gb", 21.50},
                                {"3g.47gb", 46.12},
                                {"4g.47gb", 46.12},
                                {"7g.94gb", 92.62}}},
                              kHopperEngines));
  gpus.push_back(seven_slices("GH200-96GB", 96,
                              {{{"1g.12gb", kNotKnown},
                                {"1g.24gb", 23.00},
                                {"2g.24gb", 23.00},
                                {"3g.48gb", 46.50},
                                {"4g.48gb", 46.50},
                                {"7g.96gb", 93.00}}},
                              kHopperEngines));
  gpus.push_back(seven_slices("GH200-144GB", 144,
                              {{{"1g.18gb", 17.50},
                                {"1g.36gb", 35.25},
                                {"2g.36gb", 35.25},
                                {"3g.72gb", kNotKnown},
                                {"4g.72gb", kNotKnown},
                                {"7g.144gb", kNotKnown}}},
                              kHopperEngines));
  gpus.push_back(seven_slices("H200-141GB", 141,
                              {{{"1g.18gb", 16.00},
                                {"1g.35gb", 32.25},
                                {"2g.35gb", 32.25},
                                {"3g.71gb", 69.50},
                                {"4g.71gb", 69.50},
                                {"7g.141gb", 140.00}}},
                              kHopperEngines));
  gpus.push_back(seven_slices("B200-180GB", 180,
                              {{{"1g.23gb", 20.50},
                                {"1g.45gb", 44.25},
                                {"2g.45gb", 44.25},
                                {"3g.90gb", kNotKnown},
                                {"4g.90gb", kNotKnown},
                                {"7g.180gb", kNotKnown}}},
                              kBlackwellEngines));
  gpus.push_back(seven_slices("GB200-186GB", 186,
                              {{{"1g.23gb", 22.00},
                                {"1g.47gb", 45.50},
                                {"2g.47gb", 45.50},
                                {"3g.93gb", kNotKnown},
                                {"4g.93gb", kNotKnown},
                                {"7g.186gb", kNotKnown}}},
                              kBlackwellEngines));
  gpus.push_back(rtx_pro_6000());
  for (const auto& [model, gigabytes] : {std::pair{"T4-16GB", 16},
                                         {"V100-16GB", 16},
                                         {"V100-32GB", 32},
                                         {"A10-24GB", 24},
                                         {"L4-24GB", 24},
                                         {"L40S-48GB", 48}}) {
    gpus.push_back({.model = model, .gigabytes = gigabytes});
  }
  return gpus;
}

}  // namespace

const std::vector<KnownGpu>& known_gpus() {
  static const std::vector<KnownGpu> gpus = typed_gpus();
  return gpus;
}

}  // namespace berth::nvml_sim::testing
