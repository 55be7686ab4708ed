/// The window problem: how every GPU is partitioned in each second of a window, and which service gets which slice.
/// docs/explanation/planner.md states the same model as formulas; `check.h` evaluates a schedule, `one_gpu` and `fleet`
/// solve it.
///
/// Time is divided into slots of one second, 0 to slots - 1, and a tail of `tail_seconds`, in which the last
/// configuration stays, so that a good layout and work in progress have a value at the end of the window.
///
/// A GPU holds a configuration: pieces on sites that do not clash. At the beginning of a slot it may change to another
/// one, once. Pieces that are in both (same site, service and use) continue. Each other piece of the new one begins,
/// and is not ready for
///     plumbing + (start of its service, for inference)
///     + create of its kind of slice, if no piece of the old configuration is on its site
///     + destroy, if in addition pieces of the old configuration clash with its site: the longest of their kinds
/// seconds, rounded half up to slots (with a tolerance of 1e-9). A piece of the old configuration is destroyed if no
/// piece of the new one is on its site. Unowned pieces may continue, end or be given to a service; none begins. A GPU
/// changes again only when all of its pieces are ready, standing ones included.
///
/// The rates of ready inference pieces add up: with C[v] requests per second of variant v, a slot with r requests has
/// the worth
///     value x max sum_v accuracy[v] g[v]  subject to  g[v] <= C[v],  sum_v g[v] <= r,
/// averaged over the equally likely samples r of the slot. A retraining piece that is ready adds
/// 1 / slots_on to the progress of its service in each slot in which its model is stale. If progress reaches 1 (within
/// 1e-9) at the end of slot t, `accuracy_after` is in force from slot t + 1 + swap_slots until the next due slot.
///
/// The model of a service that retrains is fresh (`accuracy_after` is in force), stale, or done (stale with progress 1,
/// until its swap is over). Legal transitions, at the beginning of a slot and in this order:
///
///   fresh, stale, done -- the slot is due -----------------> stale; a swap in progress is void
///       progress 0 again, unless it keeps_unfinished and was not done
///   stale              -- progress 1 ----------------------> done
///   done               -- swap_slots since it was done ----> fresh
///
/// So if progress reaches 1 at the end of slot t and t + 1 is due, it is lost; but if unfinished progress is kept, the
/// retraining is done (fresh from t + 1 + swap_slots).
///
/// The tail: the last configuration with all of its pieces ready, and the load of slot `slots`. A model that is fresh
/// or done answers with `after` for min(tail_seconds, tail_fresh_seconds) and with `before` for the rest, and adds
/// fresh_value; a stale one answers with `before` and adds progress_value x progress. A service without retraining
/// always answers with `after`.
///
/// Each slice that a change creates or destroys (a site that is in only one of the two configurations) costs
/// change_price in the objective.
///
/// Rules of a schedule (a GPU that does not change breaks none of those for single GPUs):
/// - pins, isolation and trust domains: in each configuration from a GPU's first change on. Pieces without an owner
///   do not count for isolation and trust domains;
/// - a piece that begins has a rate (inference: > 0 requests; retraining: terms, > 0 slots), and a retraining piece
///   begins only for a model that is stale at slot 0 or due in the window (may_be_stale), or on a site that is pinned
///   to its service;
/// - over the fleet at most one retraining piece of a service in any slot (this holds for standing ones too); where it
///   retrains_elsewhere, none in a configuration after a change;
/// - floors, from slot floors_from to the last, after the changes that begin in the slot (a shortfall of 1e-9 of the
///   floor is allowed): the rates of all inference pieces in the variant that they serve with, ready or not, plus
///   outside_floor_rate; where it counts_slices, their number;
/// - slices_max, after the changes that begin in a slot: the number of inference pieces, ready or not, plus
///   outside_slices;
/// - changes_max, over all GPUs: pieces of the service that are created (begin on a site without a piece before) or
///   destroyed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/core/index.h"
#include "domain/mig/site.h"
#include "domain/values/slice.h"

namespace berth::planner {

using mig::KindIndex;
using mig::Site;
using mig::SiteIndex;

/// Indices in a problem: of `Problem::gpus`, `services` and `models`, and of the seconds of the window.
using GpuIndex = Index<struct GpuTag>;
using ServiceIndex = Index<struct ServiceTag>;
using ModelIndex = Index<struct ModelTag>;
using SlotIndex = Index<struct SlotTag>;

/// Use of a piece: the number of the variant that it serves with, or retraining.
inline constexpr int kRetraining = -1;
/// The service of an unowned piece.
inline constexpr ServiceIndex kNoService = ServiceIndex(-1);
/// Progress from which on a retraining is done: below 1 by the rounding of sums of thirds or sevenths.
inline constexpr double kDone = 1 - 1e-9;

/// A slice on a site with its service and use.
struct Piece {
  SiteIndex site;
  ServiceIndex service = kNoService;
  int use = 0;  ///< a variant, or kRetraining; 0 if unowned
  friend auto operator<=>(const Piece&, const Piece&) = default;
};

/// The pieces of a GPU, ascending by site; no two of them clash.
using Configuration = std::vector<Piece>;

/// The rates of a service on a kind of slice of one GPU model.
struct Rates {
  std::vector<double> requests_per_second;  ///< by variant; 0: cannot serve
  double retraining_slots = 0;              ///< of a whole retraining; 0: cannot retrain here
};

struct ModelTerms {
  /// The sites of the model's mig::SiteMap, without those that no service may hold. Sites blocked by foreign slices
  /// (others.h) have a kind of their own, without rates.
  std::vector<Site> sites;
  std::vector<std::vector<Rates>> rates;  ///< [kind][service]
  std::vector<int> sms;                   ///< [kind]; breaks ties
  // The times to create and to destroy a slice of a kind, if known: [kind]; empty: as in Problem.
  std::vector<double> create_seconds = {};
  std::vector<double> destroy_seconds = {};
};

struct StandingPiece {
  Piece piece;
  int ready_in = 0;  ///< slots until it is ready
};

/// A site that its owner holds in every slot from the GPU's first change on, in any use.
struct PinnedSite {
  SiteIndex site;
  ServiceIndex service;
};

struct GpuTerms {
  ModelIndex model;
  std::vector<StandingPiece> standing;  ///< by site
  std::vector<PinnedSite> pins;
  SlotIndex free_from;  ///< no change begins before this slot
};

struct VariantTerms {
  double accuracy_before = 1;
  double accuracy_after = 1;
};

struct RetrainingTerms {
  bool is_stale = false;  ///< at slot 0
  double progress = 0;    ///< at slot 0, in [0, kDone); 0 unless stale and not done
  /// For a finished retraining, the slots until its swap is over: `before` is in force until then. 0: none. Requires:
  /// stale.
  int fresh_in = 0;
  std::vector<SlotIndex> due_slots;  ///< in [0, slots), ascending: stale from there, progress lost
  bool keeps_unfinished = false;     ///< progress is not lost when the next is due
  int swap_slots = 0;
  double tail_fresh_seconds = 0;  ///< how long `after` is in force in the tail, if not stale at its beginning
  double progress_value = 0;      ///< of progress 1 of an unfinished retraining at the window's end; linear
  double fresh_value = 0;         ///< beyond the tail, of a model that is fresh or done at the window's end; >= 0
};

struct ServiceTerms {
  double value = 1;           ///< of one answer in time at accuracy 1
  std::vector<double> loads;  ///< requests per second, [slot x samples + sample]; slot `slots` is the tail
  std::vector<VariantTerms> variants;
  double start_seconds = 5;
  std::optional<RetrainingTerms> retraining = std::nullopt;
  double floor_rate = 0;  ///< the least requests per second of its inference pieces, ready or not, from floors_from on
  bool counts_slices = false;    ///< its floor is a number of inference pieces with a rate, not a rate
  int slices_max = -1;           ///< its inference pieces in any slot; -1: no limit
  int changes_max = -1;          ///< slices of it that are created or destroyed in the window; -1: no limit
  bool is_alone_on_gpu = false;  ///< shares a GPU with no other service
  int trust_domain = -1;         ///< shares a GPU only with the same domain; -1: services that named none
  // Pieces on other GPUs, if the problem is a part of a larger one.
  std::vector<double> outside;      ///< requests per second, [slot x variants + variant], slots + 1 slots; empty: none
  double outside_floor_rate = 0;    ///< counts towards the floor, in the same unit
  int outside_slices = 0;           ///< counts towards slices_max
  bool retrains_elsewhere = false;  ///< no piece may retrain it here
  std::vector<double> outside_progress;  ///< [slot], added like that of ready pieces; empty: none
};

/// What an inference piece of a rate counts towards the floor.
[[nodiscard]] inline double floor_part(const ServiceTerms& service, double rate) {
  if (!service.counts_slices) return rate;
  return rate > 0 ? 1 : 0;
}

/// Whether a service has a floor in requests per second. Bounds know no others: a bound without a rule is a bound, too.
[[nodiscard]] inline bool has_rate_floor(const ServiceTerms& service) {
  return service.floor_rate > 0 && !service.counts_slices;
}

/// Whether the model of a service is stale in some slot of the window, so that progress can count.
[[nodiscard]] inline bool may_be_stale(const ServiceTerms& service) {
  return service.retraining && (service.retraining->is_stale || !service.retraining->due_slots.empty());
}

/// Whether rates, the model and the pins of its site allow a retraining piece to begin on a GPU. Requires: a retraining
/// piece of the service, on a kind of slice with these rates.
[[nodiscard]] inline bool may_begin_to_retrain(const GpuTerms& gpu, const ServiceTerms& service, const Rates& rates,
                                               const Piece& piece) {
  if (!service.retraining || service.retrains_elsewhere || rates.retraining_slots <= 0) return false;
  const auto is_its_pin = [&](const PinnedSite& pin) { return pin.site == piece.site && pin.service == piece.service; };
  return may_be_stale(service) || std::ranges::any_of(gpu.pins, is_its_pin);
}

struct Problem {
  int slots = 0;
  int samples = 1;  ///< of the load of a slot, equally likely
  double tail_seconds = 0;
  double destroy_seconds = 0.5;
  double create_seconds = 0.5;
  double plumbing_seconds = 0;
  double change_price = 0;  ///< the cost in the objective of each slice created or destroyed, also unowned ones; >= 0
  std::vector<char> is_frozen;  ///< [slot]: no change begins; empty: never
  /// The slot from which floors bind, after the changes that begin in it; >= slots: they do not bind.
  SlotIndex floors_from;
  std::vector<ModelTerms> models;
  std::vector<GpuTerms> gpus;
  std::vector<ServiceTerms> services;
};

/// How long it takes to create a slice of a kind.
[[nodiscard]] inline double create_seconds_of(const Problem& problem, const ModelTerms& model, KindIndex kind) {
  return model.create_seconds.empty() ? problem.create_seconds : model.create_seconds[kind];
}

/// How long it takes to destroy a slice of a kind.
[[nodiscard]] inline double destroy_seconds_of(const Problem& problem, const ModelTerms& model, KindIndex kind) {
  return model.destroy_seconds.empty() ? problem.destroy_seconds : model.destroy_seconds[kind];
}

/// A change of one GPU.
struct Change {
  SlotIndex slot;
  Configuration to;
};

/// A solution: the changes of each GPU in order of time. Without changes the standing pieces stay.
struct Schedule {
  std::vector<std::vector<Change>> gpus;
};

/// A solver's answer. gap = (bound - objective) / |bound|.
struct Answer {
  Schedule schedule;
  double objective = 0;
  double bound = 0;  ///< no schedule of the problem has a larger objective
  std::int64_t nodes = 0;
  /// No schedule that keeps floors, pins, isolation and budgets together was found.
  bool is_infeasible = false;
  bool is_infeasibility_proven = false;  ///< with is_infeasible: proven; else the search ended at its limit
  /// Fleets only: the search found no schedule that keeps all floors, and no proof that there is none. The schedule
  /// keeps all other rules, and its shortfall of the floors is the smallest that the search found.
  bool misses_floors = false;
};

}  // namespace berth::planner
