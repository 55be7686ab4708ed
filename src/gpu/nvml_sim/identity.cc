#include "gpu/nvml_sim/identity.h"

#include <array>
#include <cstdio>

namespace berth::nvml_sim {
namespace {

/// The finaliser of splitmix64. Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014.
std::uint64_t mixed(std::uint64_t value) {
  value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9ULL;
  value = (value ^ (value >> 27)) * 0x94D049BB133111EBULL;
  return value ^ (value >> 31);
}

/// A digest of 64 bits, of a text that begins with `seed`.
std::uint64_t digest(std::uint64_t seed, std::string_view text) {
  std::uint64_t state = seed;
  for (const char character : text) {
    state = mixed(state + 0x9E3779B97F4A7C15ULL + static_cast<unsigned char>(character));
  }
  return mixed(state + text.size());
}

std::uint64_t digest(std::uint64_t seed, std::string_view space, std::string_view name) {
  return digest(digest(seed, space), name);
}

}  // namespace

std::string name_based_uuid(std::string_view space, std::string_view name) {
  std::uint64_t high = digest(1, space, name);
  std::uint64_t low = digest(2, space, name);
  high = (high & ~0xF000ULL) | 0x5000ULL;                        // version 5
  low = (low & ~0xC000000000000000ULL) | 0x8000000000000000ULL;  // variant 1
  std::array<char, 37> text{};
  std::snprintf(text.data(), text.size(), "%08x-%04x-%04x-%04x-%012llx", static_cast<unsigned>(high >> 32),
                static_cast<unsigned>((high >> 16) & 0xFFFF), static_cast<unsigned>(high & 0xFFFF),
                static_cast<unsigned>(low >> 48), static_cast<unsigned long long>(low & 0xFFFFFFFFFFFFULL));
  return text.data();
}

std::string gpu_uuid(std::string_view model, std::uint32_t index) {
  return "GPU-" + name_based_uuid(model, std::to_string(index));
}

std::string board_serial(std::string_view model, std::uint32_t index) {
  constexpr std::uint64_t kDigits12 = 1'000'000'000'000;
  const std::uint64_t number = digest(3, model, std::to_string(index)) % kDigits12;
  return std::to_string(kDigits12 + number);
}

PciAddress pci_address(std::uint32_t index) {
  constexpr std::uint32_t kFirstBus = 0x07;
  constexpr std::uint32_t kBusStep = 8;
  constexpr std::uint32_t kGpusPerDomain = 32;  // the last at bus 0xFF
  return {index / kGpusPerDomain, kFirstBus + kBusStep * (index % kGpusPerDomain)};
}

std::string bus_id(const PciAddress& address) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%08X:%02X:00.0", address.domain, address.bus);
  return text.data();
}

}  // namespace berth::nvml_sim
