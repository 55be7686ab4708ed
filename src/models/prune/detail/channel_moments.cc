#include "models/prune/detail/channel_moments.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/core/ensure.h"
#include "models/prune/detail/channel_axis.h"

namespace berth::models {
namespace {

// Of a covariance of n channels: enough that noise is small against what regression finds, and bounded by n^3 steps.
constexpr std::uint64_t kVectorsPerChannel = 4;
constexpr std::uint64_t kVectorsMin = 4096;
// Vectors that are added in one go over the covariance.
constexpr std::size_t kPendingMax = 4;

std::vector<float> floats_in(const Tensor& value) {
  std::vector<float> floats(value.bytes.size() / sizeof(float));
  std::memcpy(floats.data(), value.bytes.data(), floats.size() * sizeof(float));
  return floats;
}

std::size_t product(const std::vector<std::int64_t>& dims, std::size_t first) {
  std::size_t count = 1;
  for (std::size_t i = first; i < dims.size(); ++i) count *= static_cast<std::size_t>(dims[i]);
  return count;
}

}  // namespace

Result<void> ChannelMoments::add_mean(const Tensor& value) {
  const bool is_fit = value.type == TensorType::kFp32 && value.shape.size() > at_.axis &&
                      value.shape[at_.axis] == width_of(at_, channels_);
  if (!is_fit) {
    return invalid(fmt::format("value '{}': wanted floats with {} channels in dimension {}, found a shape of [{}]",
                               value.name, channels_, at_.axis, fmt::join(value.shape, ", ")));
  }
  const std::vector<std::int64_t> dims(value.shape.begin() + static_cast<std::ptrdiff_t>(at_.axis), value.shape.end());
  if (dims_.empty()) {
    dims_ = dims;
    sums_.assign(product(dims_, 0), 0.0);
  }
  if (dims != dims_) return invalid(fmt::format("value '{}' changes its shape from batch to batch", value.name));
  const std::vector<float> elements = floats_in(value);
  const std::size_t size = sums_.size();
  for (std::size_t first = 0; size > 0 && first + size <= elements.size(); first += size) {
    for (std::size_t i = 0; i < size; ++i) sums_[i] += static_cast<double>(elements[first + i]);
    ++samples_;
  }
  return {};
}

std::vector<double> ChannelMoments::means() const {
  std::vector<double> means = sums_;
  for (double& mean : means) mean /= static_cast<double>(std::max<std::uint64_t>(samples_, 1));
  return means;
}

void ChannelMoments::begin_spread() {
  centres_ = means();
  const auto count = static_cast<std::size_t>(channels_);
  spread_ = {.channels = channels_, .variance = std::vector<double>(count, 0.0)};
  pending_.assign(kPendingMax * count, 0.0);
  if (channels_ <= kPairedChannelsMax) spread_.covariance.assign(count * count, 0.0);
  const std::size_t block = trailing();
  for (std::size_t first = 0; first < centres_.size(); first += block) {
    double sum = 0;
    for (std::size_t i = 0; i < block; ++i) sum += centres_[first + i];
    for (std::size_t i = 0; i < block; ++i) centres_[first + i] = sum / static_cast<double>(block);
  }
}

void ChannelMoments::add_spread(const Tensor& value) {
  if (centres_.empty()) begin_spread();
  const std::vector<float> elements = floats_in(value);
  const auto count = static_cast<std::size_t>(channels_);
  const std::size_t block = static_cast<std::size_t>(at_.inner) * trailing();
  const std::size_t size = centres_.size();
  const std::uint64_t all = samples_ * (size / count);
  const std::uint64_t wanted = std::max(kVectorsMin, kVectorsPerChannel * static_cast<std::uint64_t>(channels_));
  for (std::size_t first = 0; first + size <= elements.size(); first += size) {
    for (std::size_t position = 0; position < size / count; ++position) {
      // Multiples of the golden ratio fall evenly everywhere, whatever the width of the picture.
      const std::uint64_t place = ++vectors_seen_ * 0x9e3779b97f4a7c15ULL;
      if (all > wanted && place / (UINT64_MAX / all) >= wanted) continue;
      const std::size_t at = position / block * block * count + position % block;
      double* const x = pending_.data() + pending_count_ * count;
      for (std::size_t c = 0; c < count; ++c) {
        const std::size_t i = at + c * block;
        x[c] = static_cast<double>(elements[first + i]) - centres_[i];
        spread_.variance[c] += x[c] * x[c];
      }
      ++vectors_;
      if (++pending_count_ == kPendingMax) add_pending();
    }
  }
}

void ChannelMoments::add_pending() {
  const auto count = static_cast<std::size_t>(channels_);
  std::fill(pending_.begin() + static_cast<std::ptrdiff_t>(pending_count_ * count), pending_.end(), 0.0);
  pending_count_ = 0;
  const double* const a = pending_.data();
  const double* const b = a + count;
  const double* const c = b + count;
  const double* const d = c + count;
  for (std::size_t i = 0; i < count && !spread_.covariance.empty(); ++i) {
    double* const row = spread_.covariance.data() + i * count;
    for (std::size_t j = 0; j <= i; ++j) row[j] += a[i] * a[j] + b[i] * b[j] + c[i] * c[j] + d[i] * d[j];
  }
}

ChannelSpread ChannelMoments::spread() {
  if (pending_count_ > 0) add_pending();
  ChannelSpread spread = spread_;
  const auto vectors = static_cast<double>(std::max<std::uint64_t>(vectors_, 1));
  for (double& each : spread.variance) each /= vectors;
  const auto count = static_cast<std::size_t>(channels_);
  for (std::size_t i = 0; i < count && !spread.covariance.empty(); ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      spread.covariance[i * count + j] /= vectors;
      spread.covariance[j * count + i] = spread.covariance[i * count + j];
    }
  }
  return spread;
}

std::size_t ChannelMoments::trailing() const { return product(dims_, 1); }

namespace {

/// One dimension of a picture and of a filter that moves along it.
struct FilterPath {
  std::int64_t size = 0;    ///< of the picture
  std::int64_t kernel = 0;  ///< of the filter
  std::int64_t stride = 1;
  std::int64_t dilation = 1;
  std::int64_t before = 0;  ///< padding
  std::int64_t places = 0;  ///< of the filter
};

FilterPath filter_path(const Node& node, std::size_t i, std::int64_t size, std::int64_t kernel) {
  const auto listed = [&](std::string_view name, std::size_t at, std::int64_t fallback) {
    const std::vector<std::int64_t> list = attribute_or(node, name, std::vector<std::int64_t>{});
    return at < list.size() ? list[at] : fallback;
  };
  FilterPath path{
      .size = size, .kernel = kernel, .stride = listed("strides", i, 1), .dilation = listed("dilations", i, 1)};
  const std::int64_t reach = path.dilation * (kernel - 1) + 1;
  const std::string padding = attribute_or(node, "auto_pad", std::string("NOTSET"));
  if (padding == "SAME_UPPER" || padding == "SAME_LOWER") {
    path.places = (size + path.stride - 1) / path.stride;
    const std::int64_t missing = std::max<std::int64_t>((path.places - 1) * path.stride + reach - size, 0);
    path.before = padding == "SAME_UPPER" ? missing / 2 : missing - missing / 2;
    return path;
  }
  const std::size_t rank = attribute_or(node, "pads", std::vector<std::int64_t>{}).size() / 2;
  const bool is_padded = padding == "NOTSET" && rank > 0;
  path.before = is_padded ? listed("pads", i, 0) : 0;
  const std::int64_t after = is_padded ? listed("pads", rank + i, 0) : 0;
  path.places = std::max<std::int64_t>((size + path.before + after - reach) / path.stride + 1, 0);
  return path;
}

/// The sum of `picture` over all places of the filter, at the filter's element `tap`.
double sum_at_tap(const std::vector<FilterPath>& paths, const double* picture, std::size_t tap) {
  std::size_t places = 1;
  for (const FilterPath& path : paths) places *= static_cast<std::size_t>(path.places);
  double sum = 0;
  for (std::size_t place = 0; place < places; ++place) {
    std::size_t rest = place;
    std::size_t tap_rest = tap;
    std::size_t at = 0;
    std::size_t step = 1;
    bool is_inside = true;
    for (std::size_t i = paths.size(); i-- > 0;) {
      const FilterPath& path = paths[i];
      const auto places_here = static_cast<std::size_t>(path.places);
      const auto kernel = static_cast<std::size_t>(path.kernel);
      const auto move = static_cast<std::int64_t>(rest % places_here) * path.stride;
      const std::int64_t x = move + static_cast<std::int64_t>(tap_rest % kernel) * path.dilation - path.before;
      is_inside = is_inside && x >= 0 && x < path.size;
      rest /= places_here;
      tap_rest /= kernel;
      if (is_inside) at += static_cast<std::size_t>(x) * step;
      step *= static_cast<std::size_t>(path.size);
    }
    if (is_inside) sum += picture[at];
  }
  return sum;
}

}  // namespace

std::vector<double> filter_inputs(const Node& node, const Dims& weight_dims, const std::vector<double>& means,
                                  const std::vector<std::int64_t>& dims) {
  if (node.op != "Conv") return means;
  ENSURE(dims.size() + 1 == weight_dims.size());
  std::vector<FilterPath> paths;
  std::size_t taps = 1;
  std::size_t places = 1;
  for (std::size_t i = 0; i + 1 < dims.size(); ++i) {
    paths.push_back(filter_path(node, i, dims[i + 1], weight_dims[i + 2]));
    taps *= static_cast<std::size_t>(paths.back().kernel);
    places *= static_cast<std::size_t>(paths.back().places);
  }
  const std::size_t picture = product(dims, 1);
  const auto width = static_cast<std::size_t>(dims.front());
  std::vector<double> inputs(width * taps, 0.0);
  for (std::size_t c = 0; c < width && places > 0; ++c) {
    for (std::size_t tap = 0; tap < taps; ++tap) {
      inputs[c * taps + tap] = sum_at_tap(paths, means.data() + c * picture, tap) / static_cast<double>(places);
    }
  }
  return inputs;
}

}  // namespace berth::models
