#include "engine/rivals/detail/assignment.h"

#include <bit>
#include <limits>
#include <set>

#include "base/core/ensure.h"

namespace berth::partition::detail {
namespace {

using Mask = std::uint32_t;

Worth sum_of(const Worth& a, const Worth& b) {
  return {a.uncovered + b.uncovered, a.value + b.value, a.owned + b.owned};
}

/// The kinds that each service holds on the GPU, in the order of their starts.
using KindsByService = std::vector<std::vector<int>>;

/// Walks through all plans of one GPU in order and keeps the first of each KindsByService.
class PlanEnumeration {
 public:
  PlanEnumeration(const ModelView& view, int service_count, std::size_t count_max)
      : view_(view), service_count_(service_count), count_max_(count_max), kinds_(service_count) {}

  [[nodiscard]] std::vector<GpuPlan> run() {
    for (int partition = 0; partition < static_cast<int>(view_.partitions.size()); ++partition) {
      plan_ = {partition, std::vector<int>(view_.partitions[partition].pieces.size(), kNoOwner)};
      descend(0);
    }
    return std::move(plans_);
  }

 private:
  void descend(std::size_t position) {
    if (plans_.size() > count_max_) return;
    const std::vector<mig::Site>& pieces = view_.partitions[plan_.partition].pieces;
    if (position == pieces.size()) {
      if (seen_.insert(kinds_).second) plans_.push_back(plan_);
      return;
    }
    const int kind = pieces[position].kind;
    // Adjacent pieces of one kind are interchangeable: only ascending owners are enumerated, unowned last.
    const bool is_like_last = position > 0 && pieces[position - 1].kind == kind;
    const int last = is_like_last ? plan_.owners[position - 1] : 0;
    for (int owner = last == kNoOwner ? service_count_ : last; owner < service_count_; ++owner) {
      if (!view_.can_serve(kind, owner)) continue;
      plan_.owners[position] = owner;
      kinds_[owner].push_back(kind);
      descend(position + 1);
      kinds_[owner].pop_back();
    }
    plan_.owners[position] = kNoOwner;
    descend(position + 1);
  }

  const ModelView& view_;
  int service_count_;
  std::size_t count_max_;
  GpuPlan plan_;
  KindsByService kinds_;
  std::set<KindsByService> seen_;
  std::vector<GpuPlan> plans_;
};

}  // namespace

bool is_better(const Worth& a, const Worth& b) {
  if (a.uncovered != b.uncovered) return a.uncovered < b.uncovered;
  if (a.value != b.value) return a.value > b.value;
  return a.owned < b.owned;
}

Assignment best_assignment(const WorthTable& worth, std::size_t piece_count) {
  ENSURE(piece_count <= 12);
  const Mask all = (Mask{1} << piece_count) - 1;
  const std::size_t service_count = worth.size();
  // best[left]: the best worth of the services from the current one on, if the pieces of `left` are still unassigned.
  std::vector<Worth> best(all + 1);
  std::vector<std::vector<Mask>> choice(service_count, std::vector<Mask>(all + 1, 0));
  for (std::size_t service = service_count; service-- > 0;) {
    std::vector<Worth> next = best;
    for (Mask left = 0; left <= all; ++left) {
      best[left] = sum_of(worth[service][0], next[left]);
      for (Mask mask = (0 - left) & left; mask != 0; mask = (mask - left) & left) {
        if (worth[service][mask].uncovered >= kImpossible) continue;
        const Worth candidate = sum_of(worth[service][mask], next[left & ~mask]);
        if (!is_better(candidate, best[left])) continue;
        best[left] = candidate;
        choice[service][left] = mask;
      }
    }
  }

  Assignment result{best[all], std::vector<int>(piece_count, kNoOwner)};
  Mask left = all;
  for (std::size_t service = 0; service < service_count; ++service) {
    const Mask mask = choice[service][left];
    for (std::size_t piece = 0; piece < piece_count; ++piece) {
      if ((mask >> piece & 1) != 0) result.owners[piece] = static_cast<int>(service);
    }
    left &= ~mask;
  }
  return result;
}

std::int64_t assignment_count(const ModelView& view, const Partition& partition, int service_count) {
  std::int64_t product = 1;
  for (const mig::Site& piece : partition.pieces) {
    std::int64_t owners = 1;
    for (int service = 0; service < service_count; ++service) owners += view.can_serve(piece.kind, service) ? 1 : 0;
    if (__builtin_mul_overflow(product, owners, &product)) return std::numeric_limits<std::int64_t>::max();
  }
  return product;
}

std::vector<GpuPlan> distinct_plans(const ModelView& view, int service_count, std::size_t count_max) {
  return PlanEnumeration(view, service_count, count_max).run();
}

}  // namespace berth::partition::detail
