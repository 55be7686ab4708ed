/// A line of an events file, read as a JSON document whose keys are known.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <variant>

#include "base/core/month.h"
#include "base/core/result.h"
#include "ledger/events/event.h"

namespace berth::ledger::recounting {

/// Stores each text once. Returned views are valid for the lifetime of this object.
class Texts {
 public:
  [[nodiscard]] std::string_view keep(const std::string& text) { return *texts_.insert(text).first; }

 private:
  std::unordered_set<std::string> texts_;
};

/// [from_us, to_us), not empty.
struct Period {
  std::int64_t from_us = 0;
  std::int64_t to_us = 0;
  friend bool operator==(const Period&, const Period&) = default;
};

struct Price {
  std::string_view sku;
  std::int64_t from_us = 0;
  std::int64_t micro_usd_per_gpu_hour = 0;
  friend bool operator==(const Price&, const Price&) = default;
};

struct Gpu {
  std::string_view gpu;
  std::string_view sku;
  std::int64_t capacity = 0;
  Period when;
  std::optional<std::string_view> owner;
  friend bool operator==(const Gpu&, const Gpu&) = default;
};

struct Use {
  std::string_view gpu;
  std::string_view slice;
  std::int64_t weight = 0;
  std::string_view tenant;
  std::string_view service;
  Role role = Role::kInference;
  Period when;
  friend bool operator==(const Use&, const Use&) = default;
};

struct Credit {
  std::string_view tenant;
  std::int64_t at_us = 0;
  std::int64_t micro_usd = 0;
  std::string_view reason;
  std::optional<std::int64_t> expires_us;
  friend bool operator==(const Credit&, const Credit&) = default;
};

struct Budget {
  std::string_view tenant;
  std::int64_t from_us = 0;
  std::int64_t micro_usd_per_month = 0;
  bool is_hard = false;
  friend bool operator==(const Budget&, const Budget&) = default;
};

struct Rate {
  std::string_view currency;
  std::int64_t from_us = 0;
  std::int64_t micro_per_usd = 0;
  friend bool operator==(const Rate&, const Rate&) = default;
};

struct Void {
  std::string_view of;
  friend bool operator==(const Void&, const Void&) = default;
};

struct Close {
  Month month;
  friend bool operator==(const Close&, const Close&) = default;
};

using Event = std::variant<Price, Gpu, Use, Credit, Budget, Rate, Void, Close>;

struct Line {
  std::string id;
  Event event;
};

/// The event of a line; its texts are those of `texts`. `number` is that of the line, from 1. The Error gives
/// FILE:LINE, what was wanted and what was found.
[[nodiscard]] Result<Line> read_line(std::string_view line, std::string_view file, std::size_t number, Texts& texts);

}  // namespace berth::ledger::recounting
