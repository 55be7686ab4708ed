/// Window problems for tests and benchmarks: random ones of four sizes, and a hand-made one.
///
/// Sites are those of real GPU models (the plain profiles at their legal starts, and `full`). Rates are concave in the
/// size of a slice, loads are 60 to 120 % of the GPUs' capacity and vary with time, half of the services retrain.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "base/core/rng.h"
#include "domain/mig/catalogue.h"
#include "domain/mig/geometry.h"
#include "planner/window/others.h"
#include "planner/window/problem.h"

namespace berth::planner::testing {

/// Parameters of the random problems. Percentages are probabilities.
struct Shape {
  std::vector<std::string> gpus;  ///< model names, as in mig::gpu_models()
  int services = 4;
  int slots = 20;
  int samples = 1;
  int sites_max = 64;  ///< per GPU model; more are left out at random
  int start_seconds_min = 1;
  int start_seconds_max = 20;
  int retraining_percent = 50;
  int variants_percent = 30;  ///< of a second variant: faster, less accurate
  int price_percent = 0;      ///< of a price of changes
  int times_percent = 0;      ///< of times of creations and destructions by kind of slice, of each GPU model
  int rules_percent = 0;      ///< of each of: floor, pin, budget, isolation, trust domain, frozen slots
  int oddities_percent = 0;   ///< of rare cases: not ready yet, pieces outside, other costs, loads of 0 ..
};

class ProblemGenerator {
 public:
  ProblemGenerator(Shape shape, Rng rng) : shape_(std::move(shape)), rng_(rng) {}

  [[nodiscard]] Problem draw() {
    problem_ = {};
    problem_.slots = shape_.slots;
    problem_.samples = shape_.samples;
    draw_times();
    draw_models();
    for (int i = 0; i < shape_.services; ++i) draw_service();
    draw_loads();
    draw_standing();
    draw_rules();
    if (happens(shape_.oddities_percent)) draw_oddities();
    if (shape_.price_percent > 0 && happens(shape_.price_percent)) draw_change_price();
    for (ModelTerms& model : problem_.models) {
      if (shape_.times_percent > 0 && happens(shape_.times_percent)) draw_times_by_kind(model);
    }
    return problem_;
  }

 private:
  [[nodiscard]] int from(int low, int high) {
    const auto span = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low) + 1;
    return low + static_cast<int>(rng_.below(span));
  }
  [[nodiscard]] double between(double low, double high) { return low + (high - low) * rng_.unit(); }
  [[nodiscard]] bool happens(int percent) { return from(1, 100) <= percent; }
  [[nodiscard]] static std::size_t at(int index) { return static_cast<std::size_t>(index); }

  /// At most the worth of a slot in which everything is answered.
  void draw_change_price() {
    double all = 0;
    for (const ServiceTerms& service : problem_.services) {
      for (const double load : service.loads) all += service.value * load;
    }
    problem_.change_price = between(0, 1) * all / (problem_.slots + 1) / problem_.samples;
  }

  void draw_times() {
    problem_.tail_seconds = happens(15) ? 0 : problem_.slots * between(0.1, 1.5);
    if (happens(shape_.oddities_percent)) {
      problem_.destroy_seconds = from(0, 8) * 0.25;
      problem_.create_seconds = from(0, 8) * 0.25;
      problem_.plumbing_seconds = from(0, 4) * 0.5;
    }
  }

  /// Any creations, and two times of destructions: the integer program knows slow and quick ones.
  void draw_times_by_kind(ModelTerms& model) {
    const double quick = from(0, 6) * 0.25;
    const double slow = quick + from(1, 12) * 0.25;
    for (std::size_t kind = 0; kind < model.rates.size(); ++kind) {
      model.create_seconds.push_back(from(0, 12) * 0.25);
      model.destroy_seconds.push_back(happens(50) ? quick : slow);
    }
  }

  // ---- GPU models and their sites

  struct Place {
    int start = 0;
    int length = 0;  ///< 0: the whole GPU
    ProfileId profile;
    int sms = 0;
  };

  [[nodiscard]] static std::vector<Place> places_of(const GpuModel& model) {
    std::vector<Place> places;
    for (std::size_t i = 0; i < model.profiles.size(); ++i) {
      const MigProfile& profile = model.profiles[i];
      if (!profile.is_plain()) continue;
      for (const int start : profile.starts) {
        places.push_back({.start = start,
                          .length = profile.length,
                          .profile = {static_cast<std::uint16_t>(i)},
                          .sms = profile.sms.value_or(model.sms * profile.compute_slices / 8)});
      }
    }
    places.push_back({.start = 0, .length = 0, .profile = ProfileId::full(), .sms = model.sms});
    return places;
  }

  [[nodiscard]] static bool overlap(const Place& a, const Place& b) {
    if (a.length == 0 || b.length == 0) return true;
    return a.start < b.start + b.length && b.start < a.start + a.length;
  }

  void draw_models() {
    std::vector<std::string> names;
    for (const std::string& name : shape_.gpus) {
      auto found = std::ranges::find(names, name);
      if (found == names.end()) {
        names.push_back(name);
        found = names.end() - 1;
        add_model(*mig::find_gpu_model(name));
      }
      problem_.gpus.emplace_back();
      problem_.gpus.back().model = ModelIndex(found - names.begin());
    }
  }

  void add_model(const GpuModel& gpu) {
    std::vector<Place> places = places_of(gpu);
    while (places.size() > at(shape_.sites_max)) {
      places.erase(places.begin() + static_cast<std::ptrdiff_t>(rng_.below(places.size())));
    }
    ModelTerms model;
    std::vector<ProfileId> kinds;
    for (const Place& place : places) {
      Site site{.start = place.start, .profile = place.profile, .kind = KindIndex(0), .clashes = 0};
      auto found = std::ranges::find(kinds, place.profile);
      if (found == kinds.end()) {
        kinds.push_back(place.profile);
        found = kinds.end() - 1;
        model.sms.push_back(place.sms);
      }
      site.kind = KindIndex(found - kinds.begin());
      for (std::size_t i = 0; i < places.size(); ++i) {
        if (overlap(place, places[i])) site.clashes |= std::uint64_t{1} << i;
      }
      model.sites.push_back(site);
    }
    model.rates.resize(model.sms.size());
    problem_.models.push_back(std::move(model));
    speeds_.push_back(gpu.sms / 108.0 * between(0.8, 1.25));
  }

  // ---- services

  void draw_service() {
    ServiceTerms service;
    const double after = between(0.7, 0.97);
    const double before = after - between(0.02, 0.3);
    service.variants.push_back({.accuracy_before = before, .accuracy_after = after});
    if (happens(shape_.variants_percent)) {
      const double less = between(0.01, 0.12);
      service.variants.push_back({.accuracy_before = before - less, .accuracy_after = after - less});
    }
    service.start_seconds = from(shape_.start_seconds_min, shape_.start_seconds_max);
    if (happens(shape_.retraining_percent)) service.retraining = RetrainingTerms{};
    const double rate = std::exp(between(std::log(50), std::log(1500)));  // of a whole A100
    const double exponent = between(0.5, 1);
    const double speedup = between(1.3, 2.2);
    const double too_small = happens(20) ? between(0.1, 0.4) : 0;  // smaller shares of a GPU cannot hold the model
    const double slots_on_whole = problem_.slots * between(0.15, 0.7);
    for (std::size_t m = 0; m < problem_.models.size(); ++m) {
      ModelTerms& model = problem_.models[m];
      for (std::size_t kind = 0; kind < model.rates.size(); ++kind) {
        const double share = model.sms[kind] / static_cast<double>(*std::ranges::max_element(model.sms));
        const double speed = speeds_[m] * std::pow(share, exponent) * between(0.95, 1.05);
        const bool fits = share >= too_small;
        Rates rates;
        rates.requests_per_second.push_back(fits ? rate * speed : 0);
        if (service.variants.size() > 1) rates.requests_per_second.push_back(rate * speed * speedup);
        if (service.retraining && fits) rates.retraining_slots = std::max(1.0, std::round(slots_on_whole / speed));
        model.rates[kind].push_back(std::move(rates));
      }
    }
    problem_.services.push_back(std::move(service));
  }

  // ---- loads

  /// The capacity of one GPU for variant 0 if the service had all of it, in the best partition into equal pieces.
  [[nodiscard]] double capacity_of(const ModelTerms& model, int service) const {
    double best = 0;
    for (std::size_t kind = 0; kind < model.rates.size(); ++kind) {
      std::uint64_t taken = 0;
      int count = 0;
      for (std::size_t s = 0; s < model.sites.size(); ++s) {
        if (at(model.sites[s].kind) != kind || (taken >> s & 1) != 0) continue;
        ++count;
        taken |= model.sites[s].clashes;
      }
      const std::vector<double>& rates = model.rates[kind][at(service)].requests_per_second;
      best = std::max(best, count * std::ranges::max(rates));
    }
    return best;
  }

  void draw_loads() {
    const double level = between(0.6, 1.2);
    const bool counts_services = happens(50);  // the mean over services rather than over requests
    std::vector<double> shares;
    double sum = 0;
    for (int i = 0; i < shape_.services; ++i) {
      shares.push_back(between(0.3, 1.5));
      sum += shares.back();
    }
    for (int i = 0; i < shape_.services; ++i) {
      double capacity = 0;
      for (const GpuTerms& gpu : problem_.gpus) capacity += capacity_of(problem_.models[at(gpu.model)], i);
      const double mean = level * capacity * shares[at(i)] / sum;
      ServiceTerms& service = problem_.services[at(i)];
      service.value = from(1, 3) * (counts_services ? 100 / std::max(mean, 1.0) : 1.0);
      draw_load(service, mean);
      if (service.retraining) draw_retraining(service, mean);
    }
  }

  /// A curve between 0 and about 2, with mean about 1, over the elapsed share of the window.
  struct Form {
    int kind = 0;
    double a = 0;
    double b = 0;
    [[nodiscard]] double value(double x) const {
      if (kind == 0) return 1;
      if (kind == 1) return 1 - a + 2 * a * x;                                 // ramp
      if (kind == 2) return 1 + a - 2 * a * x;                                 // ramp down
      if (kind == 3) return x >= b && x < b + 0.25 ? 1 + 2 * a : 1 - a / 2;    // burst
      return 1 + a * std::sin(2 * 3.141592653589793 * (x + b) * (1 + 2 * b));  // wave
    }
  };

  void draw_load(ServiceTerms& service, double mean) {
    const Form form{.kind = from(0, 4), .a = between(0.1, 0.9), .b = between(0, 0.9)};
    const double noise = problem_.samples > 1 ? between(0.05, 0.4) : between(0, 0.1);
    for (int slot = 0; slot <= problem_.slots; ++slot) {
      const double expected = mean * form.value(slot / static_cast<double>(problem_.slots));
      for (int sample = 0; sample < problem_.samples; ++sample) {
        const double drawn = static_cast<double>(rng_.poisson(expected)) * (1 + noise * between(-1, 1));
        service.loads.push_back(std::round(std::max(0.0, drawn) * 4) / 4);
      }
    }
  }

  void draw_retraining(ServiceTerms& service, double mean) {
    RetrainingTerms& terms = *service.retraining;
    terms.is_stale = happens(60);
    if (terms.is_stale && happens(40)) terms.progress = from(1, 9) * 0.1;
    if (terms.is_stale && happens(10)) {
      terms.progress = 0;
      terms.fresh_in = from(1, 4);
    }
    const int dues = happens(60) ? 1 : happens(30) ? 2 : 0;
    for (int i = 0; i < dues; ++i) terms.due_slots.emplace_back(from(0, problem_.slots - 1));
    std::ranges::sort(terms.due_slots);
    const auto repeated = std::ranges::unique(terms.due_slots);
    terms.due_slots.erase(repeated.begin(), repeated.end());
    terms.keeps_unfinished = happens(30);
    terms.swap_slots = happens(60) ? 0 : from(1, 3);
    terms.tail_fresh_seconds = problem_.tail_seconds * between(0, 1.3);
    const VariantTerms& variant = service.variants.front();
    terms.progress_value =
        service.value * mean * (variant.accuracy_after - variant.accuracy_before) * problem_.slots * between(0, 0.8);
    terms.fresh_value = happens(50) ? 0 : terms.progress_value * between(0, 2);
  }

  // ---- standing pieces

  void draw_standing() {
    std::vector<char> retrains(problem_.services.size());
    for (GpuTerms& gpu : problem_.gpus) {
      const ModelTerms& model = problem_.models[at(gpu.model)];
      std::vector<int> order(model.sites.size());
      std::iota(order.begin(), order.end(), 0);
      for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[rng_.below(i)]);
      std::uint64_t taken = 0;
      const int empty_percent = happens(15) ? 100 : from(0, 30);
      for (const int site : order) {
        if ((taken >> site & 1) != 0 || happens(empty_percent)) continue;
        taken |= model.sites[at(site)].clashes;
        gpu.standing.push_back({.piece = draw_piece(model, site, retrains), .ready_in = 0});
      }
      std::ranges::sort(gpu.standing, {}, [](const StandingPiece& standing) { return standing.piece.site; });
    }
  }

  [[nodiscard]] Piece draw_piece(const ModelTerms& model, int site, std::vector<char>& retrains) {
    const int service = from(0, shape_.services - 1);
    const Rates& rates = model.rates[at(model.sites[at(site)].kind)][at(service)];
    if (happens(10)) return {.site = SiteIndex(site), .service = kNoService, .use = 0};
    if (rates.retraining_slots > 0 && retrains[at(service)] == 0 && happens(20)) {
      retrains[at(service)] = 1;
      return {.site = SiteIndex(site), .service = ServiceIndex(service), .use = kRetraining};
    }
    const int use = from(0, static_cast<int>(rates.requests_per_second.size()) - 1);
    if (rates.requests_per_second[at(use)] > 0)
      return {.site = SiteIndex(site), .service = ServiceIndex(service), .use = use};
    return {.site = SiteIndex(site), .service = kNoService, .use = 0};
  }

  // ---- rules

  void draw_rules() {
    const int percent = shape_.rules_percent;
    const bool has_domains = happens(percent);
    for (int i = 0; i < shape_.services; ++i) {
      ServiceTerms& service = problem_.services[at(i)];
      if (happens(percent)) service.floor_rate = draw_floor(i);
      if (happens(percent)) service.changes_max = from(0, 4);
      if (happens(percent / 2)) service.is_alone_on_gpu = true;
      if (has_domains) service.trust_domain = from(-1, 1);
    }
    if (happens(50)) problem_.floors_from = SlotIndex(from(0, problem_.slots));
    for (GpuTerms& gpu : problem_.gpus) {
      if (happens(percent)) draw_pin(gpu);
    }
    if (!happens(percent)) return;
    problem_.is_frozen.assign(at(problem_.slots), 0);
    const int begin = from(0, problem_.slots - 1);
    const int end = std::min(problem_.slots, begin + from(1, std::max(1, problem_.slots / 3)));
    for (int slot = begin; slot < end; ++slot) problem_.is_frozen[at(slot)] = 1;
  }

  /// Often exactly the rate of some pieces.
  [[nodiscard]] double draw_floor(int service) {
    const ModelTerms& model = problem_.models[at(problem_.gpus.front().model)];
    const std::size_t kind = rng_.below(model.rates.size());
    const double rate = std::ranges::max(model.rates[kind][at(service)].requests_per_second);
    const double count = std::max(1.0, static_cast<double>(problem_.gpus.size()) / shape_.services);
    return rate * (happens(50) ? 1 : between(0.3, 1.6)) * (problem_.gpus.size() > 2 ? count : 1);
  }

  void draw_pin(GpuTerms& gpu) {
    const ModelTerms& model = problem_.models[at(gpu.model)];
    PinnedSite pin{.site = SiteIndex(rng_.below(model.sites.size())),
                   .service = ServiceIndex(from(0, shape_.services - 1))};
    if (!gpu.standing.empty() && happens(60)) {
      const Piece& piece = gpu.standing[rng_.below(gpu.standing.size())].piece;
      if (piece.service != kNoService) pin = {.site = piece.site, .service = piece.service};
    }
    const Rates& rates = model.rates[at(model.sites[at(pin.site)].kind)][at(pin.service)];
    if (std::ranges::max(rates.requests_per_second) > 0) gpu.pins.push_back(pin);
  }

  // ---- rare cases

  void draw_oddities() {
    for (GpuTerms& gpu : problem_.gpus) {
      if (happens(30)) gpu.free_from = SlotIndex(from(0, problem_.slots));
      for (StandingPiece& standing : gpu.standing) {
        if (happens(30)) standing.ready_in = from(0, problem_.slots / 2 + 1);
      }
    }
    for (int i = 0; i < shape_.services; ++i) {
      ServiceTerms& service = problem_.services[at(i)];
      if (happens(15)) std::ranges::fill(service.loads, 0);
      if (happens(15)) std::swap(service.variants.front().accuracy_before, service.variants.front().accuracy_after);
      if (happens(20)) service.start_seconds = from(0, 2) * 0.5;
      if (happens(20)) add_outside(service);
      if (service.retraining && happens(20)) service.retraining->progress_value *= 5;
    }
  }

  void add_outside(ServiceTerms& service) {
    const double mean = service.loads.front() + 1;
    for (int slot = 0; slot <= problem_.slots; ++slot) {
      for (std::size_t v = 0; v < service.variants.size(); ++v) service.outside.push_back(mean * between(0, 0.6));
    }
    service.outside_floor_rate = service.floor_rate * (happens(50) ? 0.5 : 0);
    if (!service.retraining) return;
    service.retrains_elsewhere = happens(50);
    for (int slot = 0; slot < problem_.slots; ++slot) service.outside_progress.push_back(happens(50) ? 0.125 : 0);
  }

  Shape shape_;
  Rng rng_;
  Problem problem_;
  std::vector<double> speeds_;  ///< [model], of an A100
};

/// Few sites, services and slots, with every rule: small enough to try every schedule.
[[nodiscard]] inline Problem tiny_problem(Rng rng) {
  static const std::array<const char*, 5> models = {"A30-24GB", "A30-24GB", "A100-80GB", "RTX-PRO-6000-Blackwell-96GB",
                                                    "T4-16GB"};
  Shape shape{.gpus = {models[rng.below(models.size())]}};
  if (rng.below(4) == 0) shape.gpus.emplace_back(models[rng.below(models.size())]);
  const bool is_pair = shape.gpus.size() > 1;
  shape.services = 1 + static_cast<int>(rng.below(3));
  shape.sites_max = is_pair ? 4 - shape.services : 6 - shape.services;
  const std::uint64_t more = is_pair ? 2 : shape.services == 1 ? 6 : shape.services == 2 ? 4 : 3;
  shape.slots = 3 + static_cast<int>(rng.below(more));
  shape.samples = 1 + static_cast<int>(rng.below(3));
  shape.start_seconds_min = 1;
  shape.start_seconds_max = 4;
  shape.variants_percent = 20;
  shape.rules_percent = rng.below(2) == 0 ? 0 : 35;
  shape.oddities_percent = rng.below(2) == 0 ? 0 : 60;
  shape.price_percent = 40;
  shape.times_percent = 40;
  return ProblemGenerator(shape, rng).draw();
}

/// The same problem with a foreign slice, as large as one site, on all GPUs of one model.
[[nodiscard]] inline Problem shared_with_others(Problem problem, Rng rng) {
  const ModelIndex model(rng.below(problem.models.size()));
  ModelTerms& terms = problem.models[static_cast<std::size_t>(model)];
  const mig::SiteSet blocked = terms.sites[rng.below(terms.sites.size())].clashes;
  const auto is_gone = [&](SiteIndex site, ServiceIndex service) {
    const bool is_shy =
        service != kNoService && wants_known_neighbours(problem.services[static_cast<std::size_t>(service)]);
    return is_shy || (blocked >> site & 1) != 0;
  };
  for (GpuTerms& gpu : problem.gpus) {
    if (gpu.model != model) continue;
    std::erase_if(gpu.standing, [&](const auto& each) { return is_gone(each.piece.site, each.piece.service); });
    std::erase_if(gpu.pins, [&](const PinnedSite& pin) { return is_gone(pin.site, pin.service); });
  }
  terms = shared_model(problem, terms, blocked);
  return problem;
}

/// Too large for the exhaustive search, with every rule: one or two GPUs of few sites, up to 8 slots.
[[nodiscard]] inline Problem small_problem(Rng rng) {
  static const std::array<const char*, 3> models = {"A30-24GB", "A100-80GB", "RTX-PRO-6000-Blackwell-96GB"};
  Shape shape{.gpus = {models[rng.below(models.size())]}};
  if (rng.below(3) == 0) shape.gpus.emplace_back(models[rng.below(models.size())]);
  shape.services = 2 + static_cast<int>(rng.below(2));
  shape.sites_max = shape.gpus.size() > 1 ? 4 : 7;
  shape.slots = 4 + static_cast<int>(rng.below(5));
  shape.samples = 1 + static_cast<int>(rng.below(3));
  shape.start_seconds_min = 0;
  shape.start_seconds_max = 4;
  shape.variants_percent = 20;
  shape.rules_percent = rng.below(2) == 0 ? 0 : 25;
  shape.oddities_percent = rng.below(2) == 0 ? 0 : 60;
  shape.price_percent = 40;
  shape.times_percent = 40;
  return ProblemGenerator(shape, rng).draw();
}

/// One A100. For the comparison with the integer program: 4 services, 20 slots; for the large ones 4 or 8 and 200.
[[nodiscard]] inline Problem one_gpu_problem(Rng rng, int services, int slots, int samples = 1) {
  Shape shape{.gpus = {"A100-80GB"}};
  shape.services = services;
  shape.slots = slots;
  shape.samples = samples;
  return ProblemGenerator(shape, rng).draw();
}

/// GPUs of three models, one of which cannot be partitioned, with floors, pins and budgets.
[[nodiscard]] inline Problem fleet_problem(Rng rng, int gpus, int services, int slots, int rules_percent = 10) {
  static const std::array<const char*, 3> models = {"A100-80GB", "A30-24GB", "L4-24GB"};
  Shape shape;
  for (int i = 0; i < gpus; ++i) shape.gpus.emplace_back(models[rng.below(models.size())]);
  shape.services = services;
  shape.slots = slots;
  shape.rules_percent = rules_percent;
  return ProblemGenerator(shape, rng).draw();
}

/// One GPU of four units: quarters on sites 0 to 3, halves on 4 and 5, the whole on 6. A quarter serves 10 requests per
/// second (variant 0), a half 20, the whole 40; retraining takes 8, 4 and 2 slots. The GPU is empty. Each service has a
/// load of 10, value 1, accuracy 1, start 2 s; create and destroy take 0.5 s.
[[nodiscard]] inline Problem quarters_problem(int services, int slots) {
  Problem problem;
  problem.slots = slots;
  ModelTerms model;
  for (int site = 0; site < 7; ++site) {
    const int kind = site < 4 ? 0 : site < 6 ? 1 : 2;
    const int start = site < 4 ? site : site == 5 ? 2 : 0;
    model.sites.push_back(
        {.start = start, .profile = {static_cast<std::uint16_t>(kind)}, .kind = KindIndex(kind), .clashes = 0});
  }
  const auto units = [&](std::size_t s) { return ((1U << (1U << model.sites[s].kind)) - 1) << model.sites[s].start; };
  for (std::size_t a = 0; a < model.sites.size(); ++a) {
    for (std::size_t b = 0; b < model.sites.size(); ++b) {
      if ((units(a) & units(b)) != 0) model.sites[a].clashes |= std::uint64_t{1} << b;
    }
  }
  for (const int size : {1, 2, 4}) {
    const Rates rates{.requests_per_second = {10.0 * size}, .retraining_slots = 8.0 / size};
    model.rates.emplace_back(services, rates);
    model.sms.push_back(14 * size);
  }
  problem.models.push_back(std::move(model));
  problem.gpus.emplace_back();
  ServiceTerms service;
  service.loads.assign(static_cast<std::size_t>(slots) + 1, 10);
  service.variants = {{.accuracy_before = 1, .accuracy_after = 1}};
  service.start_seconds = 2;
  problem.services.assign(static_cast<std::size_t>(services), service);
  return problem;
}

/// All of a problem, for the message of a test that fails.
[[nodiscard]] inline std::string to_text(const Problem& problem) {
  std::string text =
      fmt::format("{} slots, {} samples, tail {}, destroy {}, create {}, plumbing {}, floors from {}, price {}\n",
                  problem.slots, problem.samples, problem.tail_seconds, problem.destroy_seconds, problem.create_seconds,
                  problem.plumbing_seconds, problem.floors_from, problem.change_price);
  for (std::size_t slot = 0; slot < problem.is_frozen.size(); ++slot) {
    if (problem.is_frozen[slot] != 0) text += fmt::format("frozen {}\n", slot);
  }
  for (const ModelTerms& model : problem.models) {
    text += fmt::format("model, create {}, destroy {}\n", model.create_seconds, model.destroy_seconds);
    for (std::size_t s = 0; s < model.sites.size(); ++s) {
      text += fmt::format("  site {} clashes {:#x}", s, model.sites[s].clashes);
      for (const Rates& rates : model.rates[static_cast<std::size_t>(model.sites[s].kind)]) {
        text += fmt::format("  {} in {}", rates.requests_per_second, rates.retraining_slots);
      }
      text += "\n";
    }
  }
  for (const GpuTerms& gpu : problem.gpus) {
    text += fmt::format("GPU of model {}, free from {}:", gpu.model, gpu.free_from);
    for (const StandingPiece& standing : gpu.standing) {
      const Piece& piece = standing.piece;
      text += fmt::format(" {{{} {} {}}} in {}", piece.site, piece.service, piece.use, standing.ready_in);
    }
    for (const PinnedSite& pin : gpu.pins) text += fmt::format(", pin {} of {}", pin.site, pin.service);
    text += "\n";
  }
  for (const ServiceTerms& service : problem.services) {
    text += fmt::format("service: value {}, loads {}, start {}, floor {} less {}, changes {}, alone {}, domain {}",
                        service.value, service.loads, service.start_seconds, service.floor_rate,
                        service.outside_floor_rate, service.changes_max, service.is_alone_on_gpu, service.trust_domain);
    for (const VariantTerms& variant : service.variants) {
      text += fmt::format(", accuracy {} then {}", variant.accuracy_before, variant.accuracy_after);
    }
    if (!service.outside.empty()) text += fmt::format(", outside {}", service.outside);
    text += fmt::format(", elsewhere {} {}\n", service.retrains_elsewhere, service.outside_progress);
    if (!service.retraining) continue;
    const RetrainingTerms& terms = *service.retraining;
    text += fmt::format(
        "  stale {}, progress {}, fresh in {}, due {}, keeps {}, swap {}, tail {}, progress worth {}, fresh worth {}\n",
        terms.is_stale, terms.progress, terms.fresh_in, terms.due_slots, terms.keeps_unfinished, terms.swap_slots,
        terms.tail_fresh_seconds, terms.progress_value, terms.fresh_value);
  }
  return text;
}

}  // namespace berth::planner::testing
