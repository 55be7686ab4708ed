/// Programs on slices: what is wanted, and what the hands report, become orders, news for the session and the endpoint
/// table of the gateway. Pure; README.md has the steps of a move.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/core/instant.h"
#include "domain/ports/process_hands.h"
#include "domain/values/endpoints.h"
#include "live/programs/program_view.h"
#include "live/session/entry.h"
#include "world/slices/program_slice.h"

namespace berth::live {

/// A slice, with the program of its holder.
struct WantedProgram {
  world::ProgramSlice on;
  ProcessOrder order;         ///< if the slice leaves, its slice, generation and tenant only
  bool is_startable = false;  ///< the order is complete: its device is known
  std::string service;
  std::vector<BatchLatency> latencies = {};
  std::vector<std::int64_t> batch_us = {};  ///< the table's time of a batch of n at index n - 1
};

/// A service with `run`, whether it has slices or not.
struct ProgramService {
  std::string tenant;
  std::string name;
  Micros target;
  Micros answer;
  friend bool operator==(const ProgramService&, const ProgramService&) = default;
};

/// The state of the world and of the gateway. Times are of a steady clock.
struct ProgramSight {
  Micros now;
  std::vector<ProgramService> services;
  std::vector<WantedProgram> wanted;
  bool has_gateway = false;              ///< one follows the tables
  std::uint64_t acknowledged_table = 0;  ///< by the gateway
};

struct ProgramOrders {
  std::vector<ProcessOrder> starts;
  std::vector<std::pair<std::string, std::uint64_t>> stops;  ///< slice and generation
  /// The program of a slice that waits for it is ready; since its start.
  std::vector<std::pair<world::ProgramSlice, std::optional<Micros>>> ready;
  std::vector<world::ProgramSlice> gone;
  std::vector<ProgramNoted> notes;
  std::optional<EndpointTable> table;  ///< a new one
};

class ProgramBook {
 public:
  /// Numbers of tables are greater than `table_number`.
  explicit ProgramBook(std::uint64_t table_number) : table_{.number = table_number, .services = {}} {}

  /// What the hands reported. `are_all`: every program that exists is among the reports.
  void note(const std::vector<ProcessReport>& reports, bool are_all);
  /// What follows from that. O((programs + services) log programs).
  [[nodiscard]] ProgramOrders step(const ProgramSight& sight);

  [[nodiscard]] const EndpointTable& table() const { return table_; }
  /// By tenant and service, then slice; without those that nobody wants.
  [[nodiscard]] std::map<std::pair<std::string, std::string>, std::vector<ProgramView>> views() const;

 private:
  using Key = std::pair<std::string, std::uint64_t>;  ///< slice, generation
  struct Known {
    ProcessReport report;
    Micros started_at = {};                                  ///< when `start` was ordered
    std::optional<Micros> stopped_at = std::nullopt;         ///< when `stop` was ordered
    std::optional<std::uint64_t> left_table = std::nullopt;  ///< the first table in which it is leaving
    Micros left_at = {};
    Micros acknowledged_at = Micros(-1);
    std::int64_t noted_starts = 0;  ///< of which it was noted that they are ready
    std::int64_t noted_failures = 0;
    std::string noted_refusal = {};
    bool is_loop_noted = false;
  };

  void note_news(const WantedProgram& wanted, Known& known, ProgramOrders& orders);
  void follow_wanted(const WantedProgram& wanted, const ProgramSight& sight, ProgramOrders& orders);
  /// Brings the program to its end, step by step.
  void end(const Key& key, Known& known, const ProgramSight& sight, ProgramOrders& orders);
  /// Whether a slice that is to go serves on, as another one of its service is still starting.
  [[nodiscard]] bool is_held(const WantedProgram& leaving, const ProgramSight& sight);
  void make_table(const ProgramSight& sight, ProgramOrders& orders);
  [[nodiscard]] std::vector<Endpoint> replicas_of(const ProgramService& service, const ProgramSight& sight) const;

  std::map<Key, Known> known_;
  std::map<Key, std::pair<std::string, std::string>> owners_;  ///< tenant and service of what is wanted
  std::map<Key, Micros> held_since_;
  bool knows_all_ = false;
  EndpointTable table_;
};

}  // namespace berth::live
