/// Builds one visitor of a variant from lambdas: std::visit(Overloaded{[](const A&) {}, [](const B&) {}}, value).
#pragma once

namespace berth {

template <class... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <class... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

}  // namespace berth
