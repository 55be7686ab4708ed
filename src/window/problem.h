/// The window problem: how every GPU is cut in each second of a window, and who gets which slice. docs/planner.md
/// states the same model as formulas; `check.h` evaluates a schedule of it, `one_gpu` and `fleet` solve it.
///
/// Time is slots of one second, 0 to slots - 1, and then a tail: `tail_seconds` in which the last configuration stands
/// still, so that a good layout and work in progress are worth something at the end of the window.
///
/// A GPU holds a configuration: pieces on sites that do not clash. At the beginning of a slot it may change to another
/// one, once. Pieces that are in both (same site, service and use) go on. Each other piece of the new one begins, and
/// gives nothing for
///     plumbing + (start of its service, for inference)
///     + create, where no piece of the old configuration stands on its site
///     + destroy, where moreover the room was taken: a piece of the old configuration clashes with its site
/// seconds, rounded half up to slots (1e-9 less than a half is a half). A piece of the old configuration whose site no
/// piece of the new one has is destroyed. Pieces that belong to nobody go on, end or are given to a service; none
/// begins. A GPU changes again only when all of its pieces are ready, standing ones included.
///
/// Ready inference pieces add up: with C[v] requests a second of variant v, a slot with r requests is worth
///     value x max sum_v accuracy[v] g[v]  subject to  g[v] <= C[v],  sum_v g[v] <= r,
/// the mean of that over the equally likely samples r of the slot. A retraining piece that is ready adds
/// 1 / slots_on to the progress of its service in each slot in which its model is stale. Progress 1 (less 1e-9) at the
/// end of a slot: `accuracy_after` holds from the slot swap_slots after the next one, until the next due slot.
///
/// The model of a service that retrains is fresh (`accuracy_after` holds), stale, or done: stale with progress 1, until
/// its swap is over. Legal transitions, at the beginning of a slot and in this order:
///
///   fresh, stale, done -- the slot is due -----------------> stale; a swap under way is void
///       progress 0 again, unless it keeps_unfinished and was not done
///   stale              -- progress 1 ----------------------> done
///   done               -- swap_slots since it was done ----> fresh
///
/// So progress that gets to 1 at the end of slot t is lost where t + 1 is due, but done (fresh from t + 1 + swap_slots)
/// where it is kept.
///
/// The tail: the last configuration with all of its pieces ready, the load of slot `slots`. A model that is not stale,
/// or done though its swap is pending, gives `after` for min(tail_seconds, tail_fresh_seconds) and `before` for the
/// rest, and fresh_value; a stale one gives `before`, and progress_value x progress. A service without retraining
/// always gives `after`.
///
/// Each slice that a change creates or destroys (a site that only one of both configurations holds) takes change_price
/// from the objective.
///
/// What a schedule must keep (a GPU that does not change is never at fault by itself):
/// - pins, isolation and trust domains: in each configuration from a GPU's first change on. Pieces without an owner
///   do not count for isolation and trust domains;
/// - a piece that begins has a rate (inference: > 0 requests; retraining: terms, > 0 slots);
/// - over the fleet at most one retraining piece of a service in any slot (standing ones keep it too); where it
///   retrains_elsewhere, none in a configuration after a change;
/// - floors, from slot floors_from to the last, after the changes that begin in the slot (1e-9 of the floor may lack):
///   the rates of all inference pieces in the variant that they serve with, ready or not, and outside_floor_rate;
/// - changes_max, over all GPUs: pieces of the service that are created (begin where no piece stood on the site) or
///   destroyed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/index.h"
#include "domain/slice.h"

namespace berth::planner {

/// Numbers in a problem: of `Problem::gpus` and `services`, of a model's `sites` and the kinds of its sites, and of the
/// seconds of the window.
using GpuIndex = Index<struct GpuTag>;
using ServiceIndex = Index<struct ServiceTag>;
using ModelIndex = Index<struct ModelTag>;
using SiteIndex = Index<struct SiteTag>;
using KindIndex = Index<struct KindTag>;
using SlotIndex = Index<struct SlotTag>;

/// Use of a piece: the number of the variant that it serves with, or retraining.
inline constexpr int kRetraining = -1;
/// A piece that stands and belongs to nobody.
inline constexpr ServiceIndex kNobody = ServiceIndex(-1);
/// Progress from which on a retraining is done: what whole numbers of thirds and sevenths add up to.
inline constexpr double kDone = 1 - 1e-9;

/// A profile of a GPU model at a legal start, or the whole uncut GPU.
struct Site {
  int start = 0;
  ProfileId profile;
  KindIndex kind;             ///< sites of one profile are of one kind
  std::uint64_t clashes = 0;  ///< bit s: cannot stand together with site s (its own bit is set)
};

/// Something on a site.
struct Piece {
  SiteIndex site;
  ServiceIndex service = kNobody;
  int use = 0;  ///< a variant, or kRetraining; 0 where nobody holds it
  friend auto operator<=>(const Piece&, const Piece&) = default;
};

/// What stands on a GPU: pieces by site, ascending, no two of which clash.
using Configuration = std::vector<Piece>;

/// What a kind of slice of one GPU model gives a service.
struct Rates {
  std::vector<double> requests_per_second;  ///< by variant; 0: cannot serve
  double retraining_slots = 0;              ///< of a whole retraining; 0: cannot retrain here
};

struct ModelTerms {
  std::vector<Site> sites;                ///< at most 64; those that nobody may be given are left out
  std::vector<std::vector<Rates>> rates;  ///< [kind][service]
  std::vector<int> sms;                   ///< [kind]; breaks ties
};

struct StandingPiece {
  Piece piece;
  int ready_in = 0;  ///< slots until it works
};

/// A site that is its owner's in every slot from the GPU's first change on, in whatever use.
struct PinnedSite {
  SiteIndex site;
  ServiceIndex service;
};

struct GpuTerms {
  ModelIndex model;
  std::vector<StandingPiece> standing;  ///< by site
  std::vector<PinnedSite> pins;
  SlotIndex free_from;  ///< no change begins before this slot, whatever stands
};

struct VariantTerms {
  double accuracy_before = 1;
  double accuracy_after = 1;
};

struct RetrainingTerms {
  bool is_stale = false;  ///< at slot 0
  double progress = 0;    ///< at slot 0, in [0, kDone); 0 unless stale and not done
  /// A finished retraining whose swap takes so many slots still: `before` until that slot. 0: none. Requires: stale.
  int fresh_in = 0;
  std::vector<SlotIndex> due_slots;  ///< in [0, slots), ascending: stale from there, progress lost
  bool keeps_unfinished = false;     ///< progress is not lost when the next is due
  int swap_slots = 0;
  double tail_fresh_seconds = 0;  ///< of the tail, how long `after` holds when the model is not stale at its begin
  double progress_value = 0;      ///< of progress 1 at the end of the window, for one not done; linear
  double fresh_value = 0;         ///< of a model not stale, or done, at the end of the window: beyond the tail; >= 0
};

struct ServiceTerms {
  double value = 1;           ///< of one answer in time at accuracy 1
  std::vector<double> loads;  ///< requests a second, [slot x samples + sample], slot = slots is the tail
  std::vector<VariantTerms> variants;
  double start_seconds = 5;
  std::optional<RetrainingTerms> retraining = std::nullopt;
  double floor_rate = 0;  ///< requests a second that its inference pieces, ready or not, have from floors_from on
  int changes_max = -1;   ///< slices of it that are created or destroyed in the window; -1: no limit
  bool is_alone_on_gpu = false;  ///< shares a GPU with no other service
  int trust_domain = -1;         ///< shares a GPU only with its own; -1 is a domain too: those who named none
  // What stands elsewhere, where the problem is a part of a larger one.
  std::vector<double> outside;    ///< requests a second, [(slot x variants) + variant], slots + 1 slots; empty: nothing
  double outside_floor_rate = 0;  ///< counts towards the floor
  bool retrains_elsewhere = false;       ///< no piece may retrain it here
  std::vector<double> outside_progress;  ///< [slot], added like a ready piece's; empty: nothing
};

struct Problem {
  int slots = 0;
  int samples = 1;  ///< of the load of a slot, equally likely
  double tail_seconds = 0;
  double destroy_seconds = 0.5;
  double create_seconds = 0.5;
  double plumbing_seconds = 0;
  double change_price = 0;  ///< taken from the objective for each slice that is created or destroyed, whoever's; >= 0
  std::vector<char> is_frozen;  ///< [slot]: no change begins; empty: never
  /// The slot, after the changes that begin there, from which on floors bind; >= slots: they do not.
  SlotIndex floors_from;
  std::vector<ModelTerms> models;
  std::vector<GpuTerms> gpus;
  std::vector<ServiceTerms> services;
};

/// A change of one GPU.
struct Change {
  SlotIndex slot;
  Configuration to;
};

/// A solution: the changes of each GPU in order of time. No changes: what stands stays.
struct Schedule {
  std::vector<std::vector<Change>> gpus;
};

/// What a solver found. gap = (bound - objective) / |bound|.
struct Answer {
  Schedule schedule;
  double objective = 0;
  double bound = 0;  ///< no schedule of the problem has a larger objective
  std::int64_t nodes = 0;
  /// No schedule was found that keeps the floors, pins, isolation and budgets together.
  bool is_infeasible = false;
  bool is_infeasibility_proven = false;  ///< where is_infeasible: there is none. Else the search ended at its limit
  /// Fleets only: the search found no schedule that keeps all floors, and no proof that there is none. The schedule
  /// keeps all else and lacks as little of the floors as the search could make it.
  bool misses_floors = false;
};

}  // namespace berth::planner
