#include "sdm/descent/train/communicator.h"

#include <algorithm>
#include <vector>

#include "base/formatted.h"
#include "sdm/base/error.h"

namespace sdm {

void Communicator::agree(const std::string& message) {
  const int failed = static_cast<int>(minimum(message.empty() ? size() : rank()));
  if (failed == size()) return;
  // The root passes on the text: ranks send theirs by adding bytes to the root's zeros.
  const auto length =
      static_cast<std::size_t>(maximum(rank() == failed ? static_cast<Index>(message.size()) : 0));
  std::vector<float> letters(length, 0.0F);
  if (rank() == failed)
    std::transform(message.begin(), message.end(), letters.begin(),
                   [](char c) { return static_cast<float>(static_cast<unsigned char>(c)); });
  sum_to_root(std::span(letters));
  broadcast(std::as_writable_bytes(std::span(letters)));
  if (!message.empty()) throw AgreedError(message);
  std::string text;
  for (const float letter : letters) text += static_cast<char>(static_cast<unsigned char>(letter));
  throw AgreedError(formatted("rank {}: {}", failed, text));
}

}  // namespace sdm
