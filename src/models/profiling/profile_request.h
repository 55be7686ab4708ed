/// What `berth profile` is asked to measure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace berth::models {

inline constexpr std::int64_t kProfileBatchMax = 65'536;
inline constexpr std::int64_t kProfileProcessesMax = 64;
inline constexpr std::int64_t kProfileSecondsMax = 3'600;

struct ProfileRequest {
  std::string path = {};                             ///< of an ONNX file; empty: a model behind `url`
  std::string url = {};                              ///< of a server, without the model and without a slash at the end
  std::string name = {};                             ///< of the model; empty: that of the file
  std::optional<int> cuda_index = std::nullopt;      ///< nothing: on the processor; of a file
  std::vector<int> batches = {1, 2, 4, 8, 16, 32};   ///< ascending
  std::vector<int> processes = {1, 2};               ///< ascending; of a URL: connections
  std::optional<std::string> inputs = std::nullopt;  ///< a .npz file with rows; nothing: random ones
  std::string label = {};                            ///< of --as
  double seconds = 3;                                ///< of each point, at least
  std::uint64_t seed = 1;
  std::optional<std::string> engine =
      std::nullopt;  ///< the library of ONNX Runtime; nothing: where scripts/setup puts it

  friend bool operator==(const ProfileRequest&, const ProfileRequest&) = default;
};

}  // namespace berth::models
