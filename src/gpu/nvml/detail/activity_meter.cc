#include "gpu/nvml/detail/activity_meter.h"

#include <algorithm>
#include <array>
#include <utility>

#include "gpu/nvml/detail/answers.h"

namespace berth::edges::detail {

using nvml_abi::Code;
using nvml_abi::Device;

namespace {

/// The driver refreshes its counters no faster.
constexpr std::chrono::milliseconds kBetweenSamples{100};

/// A share of a percentage. Nothing: the value is blank, as drivers mark by numbers out of range. Rounding may exceed
/// 100 a little.
std::optional<double> share_of(const nvml_abi::GpmMetric& metric) {
  constexpr double kPercentMax = 101;
  const bool is_known = metric.code == Code::kSuccess && metric.value >= 0 && metric.value <= kPercentMax;
  return is_known ? std::optional(std::min(metric.value / 100, 1.0)) : std::nullopt;
}

/// Bytes of a figure in MiB. Nothing: the value is blank.
std::optional<double> bytes_of(const nvml_abi::GpmMetric& metric) {
  constexpr double kBytesPerMib = 1'048'576;
  constexpr double kMibMax = 1e9;  // no bus carries a petabyte per second
  const bool is_known = metric.code == Code::kSuccess && metric.value >= 0 && metric.value <= kMibMax;
  return is_known ? std::optional(metric.value * kBytesPerMib) : std::nullopt;
}

bool has_all(const Functions& functions) {
  return functions.nvmlGpmMetricsGet != nullptr && functions.nvmlGpmMigSampleGet != nullptr &&
         functions.nvmlGpmQueryDeviceSupport != nullptr && functions.nvmlGpmSampleAlloc != nullptr &&
         functions.nvmlGpmSampleFree != nullptr && functions.nvmlGpmSampleGet != nullptr;
}

}  // namespace

SampleBuffer::SampleBuffer(const Functions& functions) : free_(functions.nvmlGpmSampleFree) {
  if (functions.nvmlGpmSampleAlloc(&sample_) != Code::kSuccess) sample_ = nullptr;
}

SampleBuffer::SampleBuffer(SampleBuffer&& other) noexcept
    : free_(other.free_), sample_(std::exchange(other.sample_, nullptr)) {}

SampleBuffer& SampleBuffer::operator=(SampleBuffer&& other) noexcept {
  std::swap(free_, other.free_);
  std::swap(sample_, other.sample_);
  return *this;
}

SampleBuffer::~SampleBuffer() {
  if (sample_ != nullptr) free_(sample_);
}

GpuActivity ActivityMeter::measure(Device device, Clock::time_point now) { return measure(device, Subject(), now); }

GpuActivity ActivityMeter::measure(Device device, std::uint32_t gpu_instance, Clock::time_point now) {
  return measure(device, Subject(gpu_instance), now);
}

bool ActivityMeter::is_supported(Device device) {
  if (is_supported_) return *is_supported_;
  if (!has_all(functions_)) return is_supported_.emplace(false);
  nvml_abi::GpmSupport support;
  const Code code = functions_.nvmlGpmQueryDeviceSupport(device, &support);
  if (code == Code::kSuccess) return is_supported_.emplace(support.is_supported != 0);
  if (is_not_offered(code)) is_supported_ = false;
  return false;
}

GpuActivity ActivityMeter::measure(Device device, Subject subject, Clock::time_point now) {
  if (!is_supported(device)) return {};
  const auto found = metered_.find(subject);
  if (found == metered_.end()) return begin(device, subject, now);
  Metered& metered = found->second;
  if (now - metered.at < kBetweenSamples) return metered.activity;
  if (!take(device, subject, metered.spare)) {
    metered_.erase(found);
    return {};
  }
  compare(metered, !subject.has_value());
  std::swap(metered.last, metered.spare);
  metered.at = now;
  return metered.activity;
}

GpuActivity ActivityMeter::begin(Device device, Subject subject, Clock::time_point now) {
  Metered metered{.last = SampleBuffer(functions_), .spare = SampleBuffer(functions_), .at = now};
  const bool has_buffers = metered.last.get() != nullptr && metered.spare.get() != nullptr;
  if (has_buffers && take(device, subject, metered.last)) metered_.emplace(subject, std::move(metered));
  return {};
}

bool ActivityMeter::take(Device device, Subject subject, const SampleBuffer& into) const {
  const Code code = subject ? functions_.nvmlGpmMigSampleGet(device, *subject, into.get())
                            : functions_.nvmlGpmSampleGet(device, into.get());
  return code == Code::kSuccess;
}

void ActivityMeter::compare(Metered& metered, bool is_whole_gpu) const {
  constexpr std::array kAsked = {nvml_abi::kGpmGraphicsActive, nvml_abi::kGpmTensorActive, nvml_abi::kGpmDramActive,
                                 nvml_abi::kGpmPcieSent, nvml_abi::kGpmPcieReceived};
  constexpr std::size_t kOfInstances = 3;
  const std::size_t count = is_whole_gpu ? kAsked.size() : kOfInstances;
  nvml_abi::GpmMetrics asked{
      .count = static_cast<std::uint32_t>(count), .first = metered.last.get(), .second = metered.spare.get()};
  for (std::size_t index = 0; index < count; ++index) asked.metrics[index].id = kAsked[index];
  metered.activity = {};
  metered.pcie = {};
  if (functions_.nvmlGpmMetricsGet(&asked) != Code::kSuccess) return;
  metered.activity = {
      .graphics = share_of(asked.metrics[0]), .tensor = share_of(asked.metrics[1]), .dram = share_of(asked.metrics[2])};
  if (is_whole_gpu) metered.pcie = {.sent = bytes_of(asked.metrics[3]), .received = bytes_of(asked.metrics[4])};
}

PcieTraffic ActivityMeter::pcie() const {
  const auto whole = metered_.find(Subject());
  return whole == metered_.end() ? PcieTraffic() : whole->second.pcie;
}

std::optional<double> ActivityMeter::nvlink_rate(std::uint64_t kib, Clock::time_point now) {
  if (!links_ || kib < links_->kib) {
    links_ = {.kib = kib, .at = now};
    return std::nullopt;
  }
  if (now - links_->at < kBetweenSamples) return links_->rate;
  constexpr double kBytesPerKib = 1024;
  constexpr double kMegabyte = 1e6;
  const double seconds = std::chrono::duration<double>(now - links_->at).count();
  const double megabytes = static_cast<double>(kib - links_->kib) * kBytesPerKib / kMegabyte;
  links_ = {.kib = kib, .at = now, .rate = megabytes / seconds};
  return links_->rate;
}

void ActivityMeter::keep_only(const std::vector<GpuInstanceSeen>& instances) {
  std::erase_if(metered_, [&](const auto& entry) {
    return entry.first && std::ranges::find(instances, *entry.first, &GpuInstanceSeen::id) == instances.end();
  });
}

}  // namespace berth::edges::detail
