#include "apps/sdm/tell.h"

#include <cerrno>
#include <system_error>

#include "sdm/base/error.h"
#include "sdm/base/text.h"

namespace sdm::app {
namespace {

bool quiet = false;
int said_in_vain = 0;  // the error number of the first that did not reach stdout

[[noreturn]] void fail_stdout(int error) {
  throw Error(fmt::format("stdout: cannot be written: {}", std::generic_category().message(error)));
}

}  // namespace

void put_text(std::string_view text) {
  errno = 0;
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) fail_stdout(errno);
}

void be_quiet() { quiet = true; }
bool is_quiet() { return quiet; }

void say_text(std::string_view text) {
  if (quiet) return;
  const std::string safe = printable(text);
  errno = 0;
  if (std::fwrite(safe.data(), 1, safe.size(), stdout) != safe.size() && said_in_vain == 0)
    said_in_vain = errno == 0 ? EIO : errno;
}

void tell_text(std::string_view text) noexcept {
  try {
    const std::string safe = printable(text);
    std::fwrite(safe.data(), 1, safe.size(), stderr);
  } catch (...) {  // no memory for the copy: the message is lost, not the work
  }
}

void flush_stdout() {
  errno = 0;
  if (std::fflush(stdout) != 0 && said_in_vain == 0) said_in_vain = errno;
  if (said_in_vain == 0 && std::ferror(stdout) != 0) said_in_vain = EIO;
  if (said_in_vain != 0) fail_stdout(said_in_vain);
}

}  // namespace sdm::app
