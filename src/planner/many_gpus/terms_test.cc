#include "planner/many_gpus/terms.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <ranges>

#include "planner/many_gpus/testing/schedules.h"
#include "planner/window/check.h"
#include "planner/window/testing/problems.h"

namespace berth::planner::fleet {
namespace {

using testing::kNear;

/// Two variants, several samples, capacity outside: no table is trivial.
Problem varied_problem(std::uint64_t seed, int rules_percent = 0) {
  testing::Shape shape{.gpus = {"A100-80GB", "A30-24GB"}};
  shape.services = 3;
  shape.slots = 12;
  shape.samples = 1 + static_cast<int>(seed % 4);
  shape.variants_percent = 70;
  shape.rules_percent = rules_percent;
  shape.oddities_percent = 50;
  shape.times_percent = 50;
  return testing::ProblemGenerator(shape, Rng(seed)).draw();
}

/// Each sample answered by the most accurate variant that still has room.
double worth_by_hand(const Problem& problem, ServiceIndex service, SlotIndex slot, bool is_fresh,
                     const std::vector<double>& capacity) {
  const ServiceTerms& terms = problem.services[idx(service)];
  const auto accuracy = [&](std::size_t v) {
    return is_fresh ? terms.variants[v].accuracy_after : terms.variants[v].accuracy_before;
  };
  double sum = 0;
  for (int sample = 0; sample < problem.samples; ++sample) {
    double left = terms.loads[idx(slot * problem.samples + sample)];
    std::vector<char> is_used(capacity.size(), 0);
    for (std::size_t turn = 0; turn < capacity.size(); ++turn) {
      std::size_t best = capacity.size();
      for (std::size_t v = 0; v < capacity.size(); ++v) {
        if (is_used[v] == 0 && (best == capacity.size() || accuracy(v) > accuracy(best))) best = v;
      }
      is_used[best] = 1;
      const double answered = std::min(left, capacity[best]);
      sum += terms.value * accuracy(best) * answered;
      left -= answered;
    }
  }
  return sum / problem.samples;
}

std::vector<double> any_capacity(const Problem& problem, ServiceIndex service, SlotIndex slot, Rng& rng) {
  const double load = problem.services[idx(service)].loads[idx(slot * problem.samples)] + 1;
  std::vector<double> capacity;
  for (std::size_t v = 0; v < problem.services[idx(service)].variants.size(); ++v) {
    capacity.push_back(load * 1.5 * rng.unit());
  }
  return capacity;
}

TEST(FleetTerms, CapacityIsWorthWhatTheBestAssignmentOfRequestsIs) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE(seed);
    const Problem problem = varied_problem(seed);
    const Terms terms(problem);
    Rng rng = Rng(seed).split("capacity");
    for (const ServiceIndex service : indices_of<ServiceIndex>(problem.services)) {
      for (const SlotIndex slot : Indices<SlotIndex>(problem.slots + 1)) {
        const bool is_fresh = rng.below(2) == 0;
        std::vector<double> capacity = any_capacity(problem, service, slot, rng);
        const double worth = terms.worth(service, slot, is_fresh, capacity.data());
        const double by_hand = worth_by_hand(problem, service, slot, is_fresh, capacity);
        EXPECT_NEAR(worth, by_hand, kNear * (1 + by_hand));
        // And some more of one variant is worth the difference.
        const auto use = rng.below(capacity.size());
        const double before = 20 * rng.unit();
        const double rate = 50 * rng.unit();
        const double more =
            terms.worth_of_more(service, slot, is_fresh, capacity.data(), static_cast<int>(use), before, rate);
        capacity[use] += before;
        const double least = worth_by_hand(problem, service, slot, is_fresh, capacity);
        capacity[use] += rate;
        EXPECT_NEAR(more, worth_by_hand(problem, service, slot, is_fresh, capacity) - least, kNear * (1 + least));
      }
    }
  }
}

TEST(FleetTerms, AServiceThatIsAlwaysFreshIsWorthTheSumOfItsSlots) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Problem problem = varied_problem(seed);
    const Terms terms(problem);
    Rng rng = Rng(seed).split("capacity");
    for (const ServiceIndex service : indices_of<ServiceIndex>(problem.services)) {
      std::vector<double> capacity;
      double sum = 0;
      for (const SlotIndex slot : Indices<SlotIndex>(problem.slots)) {
        const std::vector<double> here = any_capacity(problem, service, slot, rng);
        capacity.insert(capacity.end(), here.begin(), here.end());
        sum += worth_by_hand(problem, service, slot, true, here);
      }
      EXPECT_NEAR(terms.worth_always_fresh(service, capacity.data()), sum, kNear * (1 + sum));
    }
  }
}

TEST(FleetTerms, NoScheduleIsWorthMoreThanTheMost) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Problem problem = varied_problem(seed);
    Rng rng = Rng(seed).split("schedule");
    const auto schedule = testing::any_schedule(problem, rng);
    if (!schedule) continue;
    EXPECT_LE(evaluate(problem, *schedule).objective, Terms(problem).value_max * (1 + kNear));
  }
}

bool is_in(const SpaceTree& tree, NodeIndex low, NodeIndex high) {
  while (low >= 0 && low != high) low = tree.nodes[idx(low)].parent;
  return low == high;
}

TEST(FleetTerms, SitesOfEveryGpuModelClashWhereOneIsInTheOther) {
  testing::Shape shape;
  for (const GpuModel& model : mig::gpu_models()) shape.gpus.emplace_back(model.name);
  const Problem problem = testing::ProblemGenerator(shape, Rng(1)).draw();
  const Terms terms(problem);
  ASSERT_EQ(terms.trees.size(), problem.models.size());
  for (const ModelIndex m : indices_of<ModelIndex>(problem.models)) {
    SCOPED_TRACE(shape.gpus[idx(m)]);
    const ModelTerms& model = problem.models[idx(m)];
    const SpaceTree& tree = terms.trees[idx(m)];
    EXPECT_TRUE(tree.is_exact);
    for (const SiteIndex a : indices_of<SiteIndex>(model.sites)) {
      for (SiteIndex b(0); b < a; ++b) {
        const NodeIndex of_a = tree.node_of_site[idx(a)];
        const NodeIndex of_b = tree.node_of_site[idx(b)];
        const bool is_nested = is_in(tree, of_a, of_b) || is_in(tree, of_b, of_a);
        EXPECT_EQ((model.sites[idx(a)].clashes >> b & 1) != 0, is_nested) << a << " and " << b;
      }
    }
    for (const NodeIndex n : indices_of<NodeIndex>(tree.nodes)) {
      const SpaceNode& node = tree.nodes[idx(n)];
      EXPECT_EQ(node.parent < 0, n == tree.root());
      for (const NodeIndex child : node.children) {
        EXPECT_LT(child, n);
        EXPECT_EQ(tree.nodes[idx(child)].parent, n);
        EXPECT_LT(tree.nodes[idx(child)].type, node.type);
      }
      // Nodes of one type are equal except for their placement.
      const SpaceNode& first = tree.nodes[idx(tree.node_of_type[idx(node.type)])];
      ASSERT_EQ(node.sites.size(), first.sites.size());
      for (std::size_t i = 0; i < node.sites.size(); ++i) {
        EXPECT_EQ(model.sites[idx(node.sites[i])].kind, model.sites[idx(first.sites[i])].kind);
      }
      ASSERT_EQ(node.children.size(), first.children.size());
      for (std::size_t i = 0; i < node.children.size(); ++i) {
        EXPECT_EQ(tree.nodes[idx(node.children[i])].type, tree.nodes[idx(first.children[i])].type);
      }
    }
  }
}

/// Three sites in a row, of which only neighbours clash: no tree expresses that.
TEST(FleetTerms, ClashesThatAreNoTreeAreSaidToBeOneRelaxed) {
  Problem problem = testing::quarters_problem(1, 4);
  ModelTerms& model = problem.models[0];
  model.sites.resize(3);
  for (std::size_t s = 0; s < 3; ++s) model.sites[s].clashes = std::uint64_t{7} >> (s == 0 ? 1 : 0);
  model.sites[0].clashes = 0b011;
  model.sites[1].clashes = 0b111;
  model.sites[2].clashes = 0b110;
  EXPECT_TRUE(Terms(problem).trees[0].is_exact);  // the middle one is above both others
  model.sites.push_back(model.sites[2]);
  model.sites[2].clashes = 0b1110;
  model.sites[3].clashes = 0b1100;
  EXPECT_FALSE(Terms(problem).trees[0].is_exact);
}

TEST(FleetTerms, AGridHasTheSlotsAroundEachOneThatIsWanted) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    Problem problem = testing::quarters_problem(1, 20);
    if (seed % 3 != 0) {
      for (int slot = 0; slot < problem.slots; ++slot) problem.is_frozen.push_back(rng.below(3) == 0 ? 1 : 0);
    }
    const Terms terms(problem);
    const std::vector<SlotIndex> wanted = {SlotIndex(rng.below(20)), SlotIndex(rng.below(20))};
    const std::vector<int> delays = {static_cast<int>(rng.below(6))};
    const Grid grid = make_grid(terms, wanted, delays);
    EXPECT_TRUE(std::ranges::is_sorted(grid.points, std::ranges::less_equal()));
    for (const SlotIndex point : grid.points) EXPECT_TRUE(point < terms.tail() && terms.may_change_at(point));
    const auto has = [&](SlotIndex slot) { return std::ranges::find(grid.points, slot) != grid.points.end(); };
    std::vector<SlotIndex> asked = {SlotIndex(0), terms.tail() - 1};
    for (const SlotIndex slot : wanted) {
      asked.push_back(slot);
      if (slot >= delays[0]) asked.push_back(slot - delays[0]);
    }
    for (const SlotIndex slot : asked) {
      const SlotIndex next = terms.next_open(slot);
      EXPECT_TRUE(next == terms.tail() || has(next)) << slot;
      SlotIndex before = slot;
      while (before >= 0 && !terms.may_change_at(before)) --before;
      EXPECT_TRUE(before < 0 || has(before)) << slot;
    }
  }
}

TEST(FleetTerms, PiecesAreReadyWhenTheJudgeSaysAndNoSoonerThanTheTable) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    const Problem problem = varied_problem(seed);
    const Terms terms(problem);
    Rng rng = Rng(seed).split("pieces");
    for (const GpuTerms& gpu : problem.gpus) {
      const ModelTerms& model = problem.models[idx(gpu.model)];
      const Configuration before = testing::any_configuration(problem, model, testing::pieces_standing_on(gpu), rng);
      for (const Piece& piece : testing::any_configuration(problem, model, before, rng)) {
        const int slots = ready_after(terms, model, before, piece);
        EXPECT_EQ(slots, slots_until_ready(problem, model, before, piece));
        if (piece.service == kNoService || std::ranges::find(before, piece) != before.end()) continue;
        const Readiness& readiness = piece.use == kRetraining ? terms.retraining : terms.serving[idx(piece.service)];
        const bool is_on_same = std::ranges::find(before, piece.site, &Piece::site) != before.end();
        EXPECT_GE(slots, is_on_same ? readiness.on_same_site : readiness.on_new_site);
      }
    }
  }
}

TEST(FleetTerms, ServicesOfOneGroupAreThoseThatMayShareAGpu) {
  int apart = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    Problem problem = testing::quarters_problem(4, 4);
    Rng rng(seed);
    for (ServiceTerms& service : problem.services) {
      service.is_alone_on_gpu = rng.below(4) == 0;
      service.trust_domain = static_cast<int>(rng.below(3)) - 1;
    }
    const Terms terms(problem);
    for (const ServiceIndex a : indices_of<ServiceIndex>(problem.services)) {
      for (ServiceIndex b(0); b < a; ++b) {
        const Schedule both{{{{.slot = {},
                               .to = {{.site = SiteIndex(0), .service = a, .use = 0},
                                      {.site = SiteIndex(1), .service = b, .use = 0}}}}}};
        const bool may_share = !find_fault(problem, both).has_value();
        apart += may_share ? 0 : 1;
        EXPECT_EQ(terms.group[idx(a)] == terms.group[idx(b)], may_share);
      }
    }
  }
  EXPECT_GT(apart, 30);
}

}  // namespace
}  // namespace berth::planner::fleet
