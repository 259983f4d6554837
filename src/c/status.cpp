#include "c/status.h"

#include <cstdlib>

namespace sdm::c {
namespace {

// Of fixed size, so that "out of memory" can be told too.
constexpr std::size_t kLongest = 2048;
thread_local char last_error[kLongest] = "";

}  // namespace

void set_error(const char* sentence) noexcept {
  std::size_t length = std::min(std::strlen(sentence), kLongest - 1);
  // Not in the middle of a character of several bytes.
  if (std::strlen(sentence) > length)
    while (length > 0 && (static_cast<unsigned char>(sentence[length]) & 0xC0) == 0x80) --length;
  std::memcpy(last_error, sentence, length);
  last_error[length] = '\0';
}

void require(const void* argument, const char* name) {
  if (argument == nullptr) throw Error(std::string(name) + " is NULL");
}

char* copy_text(const std::string& text) {
  auto* copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy == nullptr) throw std::bad_alloc();
  std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

}  // namespace sdm::c

const char* sdm_last_error(void) { return sdm::c::last_error; }
const char* sdm_version(void) { return SDM_VERSION; }
int32_t sdm_c_version(void) { return SDM_C_VERSION; }
void sdm_free(void* memory) { std::free(memory); }
