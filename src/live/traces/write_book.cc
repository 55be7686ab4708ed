#include "live/traces/write_book.h"

#include <utility>

namespace berth::live {

void WriteBook::add(const ObjectName& object, TraceContext context, Instant now) {
  forget_old(now);
  if (notes_.size() == kCapacity) forget(notes_.begin());
  const ObjectKey key(object);
  by_object_[key].insert(++last_);
  notes_.emplace(last_, Note{.object = key, .context = std::move(context), .at = now});
}

std::vector<TraceContext> WriteBook::take(const std::set<ObjectKey>& objects, std::uint64_t up_to, Instant now) {
  forget_old(now);
  std::set<std::uint64_t> numbers;
  for (const ObjectKey& object : objects) {
    const auto found = by_object_.find(object);
    if (found == by_object_.end()) continue;
    numbers.insert(found->second.begin(), found->second.upper_bound(up_to));
  }
  std::vector<TraceContext> writes;
  for (const std::uint64_t number : numbers) {
    const auto note = notes_.find(number);
    writes.push_back(std::move(note->second.context));
    forget(note);
  }
  return writes;
}

void WriteBook::forget_old(Instant now) {
  while (!notes_.empty() && notes_.begin()->second.at + kAgeMax < now) forget(notes_.begin());
}

void WriteBook::forget(std::map<std::uint64_t, Note>::iterator note) {
  const auto numbers = by_object_.find(note->second.object);
  numbers->second.erase(note->first);
  if (numbers->second.empty()) by_object_.erase(numbers);
  notes_.erase(note);
}

}  // namespace berth::live
