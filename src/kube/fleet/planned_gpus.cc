#include "kube/fleet/planned_gpus.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <variant>

#include "domain/mig/board.h"
#include "domain/mig/catalogue.h"
#include "domain/mig/other_names.h"

namespace berth::kube {
namespace {

constexpr std::string_view kMemorySlice = "memory-slice-";
constexpr std::string_view kMigType = "mig";
constexpr std::string_view kWholeType = "gpu";

std::string attribute_of(const Device& device, const std::string& driver, const std::string& name) {
  const auto found = device.attributes.find(driver + "/" + name);
  if (found == device.attributes.end()) return {};
  const auto* text = std::get_if<std::string>(&found->second);
  return text == nullptr ? std::string() : *text;
}

/// "A100-SXM4-80GB" as the words A100, SXM4, 80GB.
std::set<std::string> words_of_product(std::string_view text) {
  std::set<std::string> words;
  std::string word;
  for (const char byte : std::string(text) + ' ') {
    if (std::isalnum(static_cast<unsigned char>(byte)) != 0) {
      word += static_cast<char>(std::toupper(static_cast<unsigned char>(byte)));
    } else if (!word.empty()) {
      words.insert(std::exchange(word, {}));
    }
  }
  return words;
}

/// "SET/memory-slice-3" is 3.
std::optional<int> memory_slice_of(std::string_view counter) {
  const std::size_t slash = counter.rfind('/');
  if (slash == std::string_view::npos || !counter.substr(slash + 1).starts_with(kMemorySlice)) return std::nullopt;
  const std::string_view number = counter.substr(slash + 1 + kMemorySlice.size());
  int value = 0;
  const auto [rest, problem] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (problem != std::errc() || rest != number.data() + number.size()) return std::nullopt;
  return value;
}

/// What is known of the devices of one counter set.
struct Gathered {
  struct MigDevice {
    std::string name;
    std::string profile;
    int start = 0;
    int length = 0;
  };
  std::set<std::string> nodes = {};
  std::set<std::string> products = {};
  std::string uuid = {};
  std::string whole = {};
  std::vector<MigDevice> mig = {};
};

void gather(const Pool& pool, const Device& device, std::map<std::string, Gathered>& sets) {
  const std::string& driver = pool.name.driver;
  std::set<std::string> used;
  std::optional<int> first;
  int length = 0;
  for (const CounterUse& use : device.uses) {
    const std::string& counter = pool.counter_names[use.counter];
    used.insert(counter.substr(0, counter.rfind('/')));
    const auto slice = use.amount > 0 ? memory_slice_of(counter) : std::nullopt;
    if (!slice) continue;
    first = std::min(first.value_or(*slice), *slice);
    ++length;
  }
  if (used.size() != 1) return;
  Gathered& gpu = sets[*used.begin()];
  gpu.nodes.insert(device.node);
  if (std::string product = attribute_of(device, driver, "productName"); !product.empty()) gpu.products.insert(product);
  const std::string type = attribute_of(device, driver, "type");
  const std::string uuid = attribute_of(device, driver, type == kMigType ? "parentUUID" : "uuid");
  if (!uuid.empty()) gpu.uuid = uuid;
  if (type == kWholeType) gpu.whole = device.name;
  const std::string profile = attribute_of(device, driver, "profile");
  if (type == kMigType && first && !profile.empty()) gpu.mig.push_back({device.name, profile, *first, length});
}

/// Keeps the profiles and starts for which there are devices, and numbers them anew.
void put_devices(const Gathered& gathered, const GpuModel& known, PlannedGpu& gpu) {
  std::map<std::uint16_t, std::map<int, std::string>> by_profile;
  for (const Gathered::MigDevice& device : gathered.mig) {
    const auto profile = mig::find_profile_by_any_name(known, device.profile);
    if (!profile || profile->is_full()) continue;
    const MigProfile& its = known.profiles[profile->index];
    if (its.length != device.length || std::ranges::find(its.starts, device.start) == its.starts.end()) continue;
    by_profile[profile->index].emplace(device.start, device.name);
  }
  gpu.model = known;
  gpu.model.profiles.clear();
  for (const auto& [index, devices] : by_profile) {
    MigProfile profile = known.profiles[index];
    profile.starts.clear();
    const ProfileId id{static_cast<std::uint16_t>(gpu.model.profiles.size())};
    for (const auto& [start, name] : devices) {
      profile.starts.push_back(start);
      gpu.devices.emplace(GpuPlace(id, start), name);
      gpu.places.emplace(name, GpuPlace(id, start));
    }
    gpu.model.profiles.push_back(std::move(profile));
  }
  gpu.model.has_full = gpu.model.profiles.empty();
  gpu.whole = gathered.whole;
  if (!gpu.model.has_full || gathered.whole.empty()) return;
  gpu.devices.emplace(GpuPlace(ProfileId::full(), 0), gathered.whole);
  gpu.places.emplace(gathered.whole, GpuPlace(ProfileId::full(), 0));
}

}  // namespace

std::optional<GpuModel> model_of_product(std::string_view product) {
  const std::set<std::string> words = words_of_product(product);
  const GpuModel* found = nullptr;
  for (const GpuModel& model : mig::gpu_models()) {
    if (mig::board_of(model).name == product) return model;
    // "NVIDIA A100 80GB PCIe" has the words of A100-80GB.
    const std::set<std::string> wanted = words_of_product(model.name);
    if (!std::ranges::includes(words, wanted)) continue;
    if (found != nullptr && words_of_product(found->name).size() == wanted.size()) return std::nullopt;
    if (found == nullptr || words_of_product(found->name).size() < wanted.size()) found = &model;
  }
  return found == nullptr ? std::nullopt : std::optional(*found);
}

std::vector<PlannedGpu> planned_gpus(const Inventory& inventory, const std::set<PoolName>& pools) {
  std::vector<PlannedGpu> gpus;
  for (const auto& [name, state] : inventory.pools()) {
    if (!pools.contains(name)) continue;
    std::map<std::string, Gathered> sets;
    for (const Device& device : state.pool.devices) {
      if (device.is_offered) gather(state.pool, device, sets);
    }
    for (const auto& [set, gathered] : sets) {
      if (gathered.nodes.size() != 1 || gathered.products.size() != 1) continue;
      const auto model = model_of_product(*gathered.products.begin());
      if (!model) continue;
      PlannedGpu gpu{.key = fmt::format("{}/{}", name.text(), gathered.uuid.empty() ? set : gathered.uuid),
                     .pool = name,
                     .node = *gathered.nodes.begin(),
                     .product = *gathered.products.begin(),
                     .model = {},
                     .devices = {},
                     .places = {},
                     .whole = {}};
      put_devices(gathered, *model, gpu);
      if (!gpu.devices.empty()) gpus.push_back(std::move(gpu));
    }
  }
  std::ranges::sort(gpus, {}, &PlannedGpu::key);
  return gpus;
}

std::optional<GpuPlace> place_of(const PlannedGpu& gpu, const std::string& device) {
  if (const auto found = gpu.places.find(device); found != gpu.places.end()) return found->second;
  if (device != gpu.whole || gpu.devices.empty()) return std::nullopt;
  const auto length = [&](const auto& entry) { return gpu.model.profiles[entry.first.first.index].length; };
  return std::ranges::max_element(gpu.devices, {}, length)->first;
}

}  // namespace berth::kube
