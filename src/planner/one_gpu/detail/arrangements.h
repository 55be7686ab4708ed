/// All configurations of one GPU, with the properties that the search needs.
#pragma once

#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

#include "planner/one_gpu/detail/gpu_case.h"

namespace berth::planner {

/// The number of an arrangement that the search has met.
using ArrangementIndex = Index<struct ArrangementTag>;
/// A number shared by arrangements that are equal up to symmetries of the GPU.
using AlikeIndex = Index<struct AlikeTag>;

/// The slices of one service: a bundle to serve with, and the kind of slice that it retrains on (-1: none).
struct Share {
  BundleIndex bundle = BundleIndex(0);
  KindIndex retraining_kind = kNoKind;
  friend auto operator<=>(const Share&, const Share&) = default;
};

/// A configuration and its derived properties.
struct Arrangement {
  Configuration pieces;
  std::vector<Share> shares;           ///< [service]
  std::vector<double> progress_rates;  ///< [service], per slot
  AlikeIndex alike = AlikeIndex(0);    ///< equal for configurations that are equal up to symmetries of the GPU
  bool keeps_floors = true;            ///< of all services
  bool has_spare = false;              ///< some pieces do not serve: idle, or retraining
  bool has_unused = false;             ///< some pieces do nothing that counts in the search
  bool can_stand = true;               ///< no service retrains twice
  bool may_begin = true;               ///< pins and neighbours allow a change to it
};

/// All arrangements met so far, by number.
class Arrangements {
 public:
  explicit Arrangements(const GpuCase& gpu_case);

  ArrangementIndex number_of(const Configuration& pieces);
  [[nodiscard]] const Arrangement& operator[](ArrangementIndex number) const { return all_[number]; }

  /// Called before pieces are placed: whether a placement is worthwhile if at most these shares of the existing pieces
  /// continue.
  using IsWorth = std::function<bool(const std::vector<Share>& kept)>;
  using Visit = std::function<bool(const Configuration& to)>;

  /// The most existing pieces that may continue if the services get these shares.
  [[nodiscard]] std::vector<Share> most_kept(const Arrangement& from, const std::vector<Share>& shares) const;

  /// Calls `visit` with each configuration that gives the services these shares: only one of those that differ by
  /// exchanges of two equal sites, with all choices of the unused pieces of `from`. Those that keep most come first;
  /// those that are not worthwhile are left out. Stops if `visit` returns false, and then returns false.
  [[nodiscard]] bool visit_placings(const Arrangement& from, const std::vector<Share>& shares, const IsWorth& is_worth,
                                    const Visit& visit) const;

 private:
  struct Hash {
    std::size_t operator()(const Configuration& pieces) const;
  };
  struct Placing;
  void find_symmetries();
  void extend_symmetry(const std::vector<SiteIndex>& order, std::size_t depth, std::vector<SiteIndex>& image,
                       std::uint64_t used);
  void find_twins();
  [[nodiscard]] ServiceIndex pin_of(SiteIndex site) const;
  [[nodiscard]] Configuration least_alike(const Configuration& pieces) const;
  [[nodiscard]] Arrangement describe(const Configuration& pieces) const;
  [[nodiscard]] bool is_used(const Piece& piece) const;
  [[nodiscard]] bool may_begin(const Configuration& pieces) const;
  bool keep(Placing& placing, std::size_t next) const;
  bool place(Placing& placing, std::size_t group, int left, std::size_t first) const;
  bool place_unused(Placing& placing, std::size_t next) const;

  const GpuCase& case_;
  std::vector<std::vector<SiteIndex>> sites_of_kind_;
  std::vector<std::vector<SiteIndex>> symmetries_;  ///< [symmetry][site]
  std::vector<std::uint64_t> twins_;                ///< [site], earlier sites that can be exchanged with just this one
  std::vector<Arrangement> all_;
  std::unordered_map<Configuration, ArrangementIndex, Hash> numbers_;
  std::unordered_map<Configuration, AlikeIndex, Hash> alike_;
};

}  // namespace berth::planner
