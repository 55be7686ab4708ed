#include "domain/values/tensor.h"

#include "base/core/ensure.h"

namespace berth {

std::size_t element_bytes(TensorType type) {
  switch (type) {
    case TensorType::kBool:
    case TensorType::kUint8:
    case TensorType::kInt8:
      return 1;
    case TensorType::kUint16:
    case TensorType::kInt16:
    case TensorType::kFp16:
    case TensorType::kBf16:
      return 2;
    case TensorType::kUint32:
    case TensorType::kInt32:
    case TensorType::kFp32:
      return 4;
    case TensorType::kUint64:
    case TensorType::kInt64:
    case TensorType::kFp64:
      return 8;
    case TensorType::kBytes:
      break;
  }
  ENSURE(type != TensorType::kBytes);
  return 0;
}

}  // namespace berth
