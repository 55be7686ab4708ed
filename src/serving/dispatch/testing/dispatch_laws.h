/// The laws of serving, checked from outside: what a dispatcher is asked and what it orders, recounted without its
/// code.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "serving/dispatch/dispatcher.h"

namespace berth::serving {

/// Fed with every call and every order, in their order. The first law that is broken is kept as a sentence.
class DispatchLaws {
 public:
  DispatchLaws(std::int64_t memory, int lanes, bool is_berth)
      : memory_(memory), is_berth_(is_berth), lanes_(static_cast<std::size_t>(lanes)) {}

  void add_model(const ModelTerms& terms);
  void set_terms(ModelIndex model, const ModelTerms& terms) { at(model).terms = terms; }
  void set_offered(ModelIndex model, bool is_offered);
  void lease(ModelIndex model, Instant until);
  void arrive(const Request& request);
  /// The request ended outside of an order: it was returned or cancelled while it waited.
  void take_back(const Request& request) { end_waiting(request, "returned"); }
  void end_batch(LaneIndex lane, const RunningBatch& batch);
  void lose_lane(LaneIndex lane, const std::optional<RunningBatch>& batch);
  /// It ended with so many bytes, and the dispatcher said whether they fit.
  void end_load(ModelIndex model, std::int64_t measured, bool fits);
  void fail_load(ModelIndex model);

  /// To be called before `decide`: which models are about to leave, and so which requests they owe.
  void note_leaving(const DeviceState& device);
  void obey(const Order& order, Instant now);
  /// After the orders of a `decide`: what is left to wait, and the dispatcher's own books.
  void check_rest(const DeviceState& device, Instant now);

  [[nodiscard]] const std::optional<std::string>& broken() const { return broken_; }
  /// Requests that arrived and have not ended.
  [[nodiscard]] std::size_t open_count() const { return waiting_.size() + running_; }
  [[nodiscard]] std::int64_t next_number() const { return next_number_; }

 private:
  struct Model {
    ModelTerms terms;
    Residency residency = Residency::kCold;
    std::int64_t reserved = 0;
    bool is_offered = true;
    Instant lease_until = {};
    std::optional<std::int64_t> leaves_before = std::nullopt;
    int batches = 0;  ///< running, and those of lanes that were lost
  };

  struct Lane {
    std::vector<Request> requests = {};  ///< of its batch; empty: free
    bool is_lost = false;
  };

  void obey(const StartBatch& batch, Instant now);
  void obey(const StartLoad& load, Instant now);
  void obey(const Evict& eviction, Instant now);
  void obey(const Reject& reject, Instant now);
  void obey(const Drop& drop, Instant now);
  void end_waiting(const Request& request, const std::string& how);
  void check(bool holds, const std::string& law);
  void check_memory();
  void check_preload(ModelIndex index);
  [[nodiscard]] Model& at(ModelIndex model) { return models_[static_cast<std::size_t>(model)]; }

  std::int64_t memory_;
  bool is_berth_;
  std::vector<Model> models_;
  std::vector<Lane> lanes_;
  std::map<std::int64_t, Request> waiting_;  ///< by number
  std::optional<ModelIndex> loading_;
  std::size_t running_ = 0;  ///< requests in batches
  std::int64_t next_number_ = 0;
  std::optional<std::string> broken_;
};

}  // namespace berth::serving
