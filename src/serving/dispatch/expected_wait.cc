#include "serving/dispatch/expected_wait.h"

#include <fmt/format.h>

namespace berth::serving {
namespace {

/// Such as "12.5 ms".
std::string milliseconds(Micros time) { return fmt::format("{} ms", static_cast<double>(time.count()) / 1000); }

void add_part(std::string& text, Micros time, std::string_view what) {
  if (time > Micros(0)) text += fmt::format("{} {}, ", milliseconds(time), what);
}

}  // namespace

std::string describe(const ExpectedWait& wait, Micros left) {
  std::string text = fmt::format("it would take at least {}, and its target leaves {}: ", milliseconds(wait.total()),
                                 milliseconds(left));
  add_part(text, wait.running, "until what runs ends");
  add_part(text, wait.ahead, "for more urgent requests");
  add_part(
      text, wait.load,
      wait.running + wait.ahead > Micros(0) ? "until the model is loaded, meanwhile" : "until the model is loaded");
  return text + milliseconds(wait.own_batch) + " for its own batch";
}

}  // namespace berth::serving
