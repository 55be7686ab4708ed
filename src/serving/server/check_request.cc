#include "serving/server/check_request.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "base/core/text.h"

namespace berth::serving {
namespace {

std::string names_of(std::span<const TensorSignature> signatures) {
  std::string names;
  for (const TensorSignature& signature : signatures) {
    names += names.empty() ? in_quotes(signature.name) : ", " + in_quotes(signature.name);
  }
  return names;
}

std::string shape_text(std::span<const std::int64_t> shape) { return fmt::format("[{}]", fmt::join(shape, ",")); }

bool fits(std::span<const std::int64_t> wanted, std::span<const std::int64_t> found) {
  return std::ranges::equal(wanted, found,
                            [](std::int64_t want, std::int64_t size) { return want < 0 || want == size; });
}

ServeResult<bool> check_input(const TensorSignature& wanted, const Tensor& found) {
  if (found.type != wanted.type) {
    return refuse(ServeFault::kMalformed,
                  fmt::format("input {}: wanted the datatype {}, found {}", in_quotes(wanted.name),
                              name_of(wanted.type), name_of(found.type)));
  }
  if (!fits(wanted.shape, found.shape)) {
    return refuse(
        ServeFault::kMalformed,
        fmt::format("input {}: wanted the shape {}{}, found {}", in_quotes(wanted.name), shape_text(wanted.shape),
                    std::ranges::count(wanted.shape, -1) > 0 ? " (-1: any size)" : "", shape_text(found.shape)));
  }
  return true;
}

/// The inputs in the order of the model.
ServeResult<std::vector<Tensor>> in_order(const VersionTerms& terms, std::vector<Tensor>& inputs) {
  std::vector<Tensor> ordered;
  ordered.reserve(terms.inputs.size());
  for (const TensorSignature& wanted : terms.inputs) {
    const auto found = std::ranges::find(inputs, wanted.name, &Tensor::name);
    if (found == inputs.end()) {
      return refuse(ServeFault::kMalformed,
                    fmt::format("wanted the inputs {}, found no {}", names_of(terms.inputs), in_quotes(wanted.name)));
    }
    if (auto checked = check_input(wanted, *found); !checked) return tl::unexpected<ServeError>(checked.error());
    ordered.push_back(std::move(*found));
    inputs.erase(found);
  }
  if (!inputs.empty()) {
    return refuse(ServeFault::kMalformed, fmt::format("wanted the inputs {} once each, found also {}",
                                                      names_of(terms.inputs), in_quotes(inputs.front().name)));
  }
  return ordered;
}

ServeResult<RowCount> count_rows(const VersionTerms& terms, std::span<const Tensor> inputs) {
  if (terms.rows_max == 0 || inputs.empty()) return 1;
  const std::int64_t rows = inputs.front().shape.front();
  for (const Tensor& input : inputs) {
    if (input.shape.front() == rows) continue;
    return refuse(ServeFault::kMalformed,
                  fmt::format("wanted as many rows in each input, found {} in {} and {} in {}", rows,
                              in_quotes(inputs.front().name), input.shape.front(), in_quotes(input.name)));
  }
  if (rows < 1 || rows > terms.rows_max) {
    return refuse(ServeFault::kMalformed, fmt::format("wanted 1 to {} rows, found {}", terms.rows_max, rows));
  }
  return static_cast<RowCount>(rows);
}

/// FNV-1a over the sizes, 64 bits at a time.
std::uint64_t digest_of(std::span<const Tensor> inputs, bool has_rows) {
  std::uint64_t digest = 0xcbf29ce484222325U;
  for (const Tensor& input : inputs) {
    for (const std::int64_t size : std::span(input.shape).subspan(has_rows ? 1 : 0)) {
      digest = (digest ^ static_cast<std::uint64_t>(size)) * 0x100000001b3U;
    }
  }
  return digest;
}

std::int64_t bytes_of(const Tensor& tensor) {
  std::size_t bytes = tensor.bytes.size();
  for (const std::string& text : tensor.texts) bytes += text.size() + sizeof text;
  return static_cast<std::int64_t>(bytes);
}

}  // namespace

ServeResult<RequestShape> check_request(const VersionTerms& terms, InferRequest& request) {
  auto ordered = in_order(terms, request.inputs);
  if (!ordered) return tl::unexpected<ServeError>(ordered.error());
  request.inputs = std::move(*ordered);
  for (const std::string& wanted : request.outputs) {
    if (std::ranges::find(terms.outputs, wanted, &TensorSignature::name) != terms.outputs.end()) continue;
    return refuse(ServeFault::kMalformed,
                  fmt::format("wanted outputs of {}, found {}", names_of(terms.outputs), in_quotes(wanted)));
  }
  const auto rows = count_rows(terms, request.inputs);
  if (!rows) return tl::unexpected<ServeError>(rows.error());
  RequestShape shape{.rows = *rows, .shape = digest_of(request.inputs, terms.rows_max > 0)};
  for (const Tensor& input : request.inputs) shape.bytes += bytes_of(input);
  return shape;
}

Request with_shape(Request request, const RequestShape& shape, bool is_batched) {
  request.rows = is_batched ? shape.rows : 1;
  request.shape = is_batched ? shape.shape : static_cast<std::uint64_t>(request.number);
  request.bytes = shape.bytes;
  return request;
}

}  // namespace berth::serving
