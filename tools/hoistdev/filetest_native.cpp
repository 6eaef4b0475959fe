// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "hoistdev/filetest_native.hpp"

namespace hoistdev {

hoist::Result<std::unique_ptr<NativeFile>> NativeFile::compile(const hoist::ir::ParsedFile&,
                                                               unsigned) {
  return hoist::Error(hoist::ErrorKind::Unsupported, "native code");
}

}  // namespace hoistdev
