/// What `berth profile` measured: a model on a machine, at each batch size and number of processes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace berth {

/// What was profiled. A file is known by its content; a model behind a URL by what its server says of it.
struct ProfiledModel {
  std::string name = {};    ///< of the file without its suffix, or in the server's metadata
  std::string sha256 = {};  ///< of the file's content, 64 hexadecimal digits; empty: not known (a URL)
  std::string url = {};     ///< of the server, without the model; empty: a file
  std::int64_t file_bytes = 0;
  /// From the graph, of one row (batch 1); absent: not known, because of a subgraph or a shape that cannot be inferred.
  std::optional<std::int64_t> flops = {};
  std::optional<std::int64_t> activation_bytes = {};
  std::optional<std::int64_t> parameters = {};
  std::optional<std::int64_t> weight_bytes = {};
  friend bool operator==(const ProfiledModel&, const ProfiledModel&) = default;
};

/// Where it was measured. Two machines with equal values are one machine.
struct ProfilingMachine {
  std::string device = {};        ///< "cpu", or the name of the GPU or slice
  std::string processor = {};     ///< the CPU's model name
  std::string flags = {};         ///< of the CPU, those that matter, sorted, separated by spaces
  std::int64_t memory_bytes = 0;  ///< of the device; of the machine for "cpu"
  std::string driver = {};        ///< of the GPU; empty on "cpu"
  std::string engine = {};        ///< such as "ONNX Runtime 1.32.0"; of a URL what its server says
  int threads = 1;                ///< per process
  friend bool operator==(const ProfilingMachine&, const ProfilingMachine&) = default;
};

/// One batch size with one number of processes. Times in microseconds.
struct ProfilePoint {
  int batch = 1;
  int processes = 1;           ///< of a URL: connections
  bool fits = true;            ///< false: the memory was not enough; all figures below are 0
  double rows_per_second = 0;  ///< of all processes together
  double mean_us = 0;          ///< of one batch
  double mean_us_low = 0;      ///< 95 % interval of the mean
  double mean_us_high = 0;
  double p50_us = 0;
  double p99_us = 0;
  std::int64_t batches = 0;                       ///< measured, after the warm-up
  bool is_short = false;                          ///< the interval is wider than wanted: the time was over
  std::optional<std::int64_t> memory_bytes = {};  ///< of one process, at its largest so far; absent: not known
  /// The figures of an imported row as decimals: requests per second of the whole slice, and milliseconds of a batch.
  /// Empty: measured. The doubles above are then their nearest values, and only the mean is known of the times.
  std::string rate_text = {};
  std::string latency_text = {};
  friend bool operator==(const ProfilePoint&, const ProfilePoint&) = default;
};

/// One call of `berth profile`: complete, or it does not exist.
struct ProfileRun {
  std::int64_t id = 0;          ///< given by the store, from 1 in the order of the runs
  std::int64_t started_us = 0;  ///< of the epoch
  std::string berth_version = {};
  std::string label = {};  ///< of --as: "A100-80GB:1g.10gb"; empty: none was given
  ProfiledModel model = {};
  ProfilingMachine machine = {};
  std::optional<std::int64_t> memory_at_load_bytes = {};
  int fixed_batch = 0;                    ///< of a model with a fixed first dimension; 0: any
  std::vector<ProfilePoint> points = {};  ///< sorted by (processes, batch), no two with the same
  friend bool operator==(const ProfileRun&, const ProfileRun&) = default;
};

/// Batches of a model that a server ran, summed since some start of it (`/berth/v1/times`).
struct ObservedTimes {
  std::string model = {};
  std::string version = {};
  std::string sha256 = {};  ///< empty: the server did not know it
  std::string device = {};
  int batch = 1;
  std::int64_t count = 0;
  std::int64_t sum_us = 0;
  double sum_squares = 0;  ///< of the microseconds
  friend bool operator==(const ObservedTimes&, const ObservedTimes&) = default;
};

/// What a model took of the device's memory (`/berth/v1/memory`).
struct ObservedMemory {
  std::string model = {};
  std::string version = {};
  std::int64_t bytes = 0;
  friend bool operator==(const ObservedMemory&, const ObservedMemory&) = default;
};

/// One answer of a server: everything since `started_us`.
struct TimesReport {
  std::int64_t started_us = 0;  ///< of the epoch
  std::string url = {};
  std::vector<ObservedTimes> items = {};    ///< no two with equal model, version, sha256, device and batch
  std::vector<ObservedMemory> memory = {};  ///< of the models whose memory is known
  friend bool operator==(const TimesReport&, const TimesReport&) = default;
};

}  // namespace berth
