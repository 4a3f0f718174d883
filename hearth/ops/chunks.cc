#include "hearth/ops/chunks.h"

#include <algorithm>
#include <vector>

#include "hearth/base/check.h"
#include "hearth/ops/gradient_checkpointing.h"
#include "hearth/ops/parts.h"

namespace hearth::ops {

Var in_chunks(Context& ctx, std::int64_t sequences, const std::function<Var(Context&)>& body) {
  check(body != nullptr && sequences > 0, "[in_chunks] {} sequences per part", sequences);
  const std::int64_t count = ctx.batch->sequences();
  if (ctx.tape == nullptr || count <= sequences) return body(ctx);
  std::vector<Var> results;
  for (std::int64_t begin = 0; begin < count; begin += sequences) {
    Context part = ctx;
    part.begin(shared_batch(ctx.batch->part(begin, std::min(begin + sequences, count))));
    results.push_back(checkpointed(part, body));
  }
  return concat_rows(ctx, results);
}

}  // namespace hearth::ops
