#include <gmock/gmock.h>
#include <sys/stat.h>

#include <fstream>
#include <thread>

#include "sdm/io/file.h"
#include "tests/io/expect_error.h"
#include "tests/temporary_folder.h"

namespace sdm::io {
namespace {

namespace fs = std::filesystem;

TEST(TextFile, ComesBackAsWritten) {
  const TemporaryFolder folder;
  std::string text("first\r\nsecond\0third\n", 20);
  for (int i = 0; i < 20000; ++i) text += "a longer text\n";
  write_text(folder / "a.txt", text);
  EXPECT_EQ(read_text(folder / "a.txt"), text);
  EXPECT_EQ(read_lines(folder / "a.txt").lines.size(), 20002u);
  write_text(folder / "a.txt", "");
  EXPECT_EQ(read_text(folder / "a.txt"), "");
}

TEST(TextFile, IsNamedInTheErrorsOfItsLines) {
  const TemporaryFolder folder;
  const fs::path path = folder.write("a.csv", "x\n");
  expect_error([&] { read_lines(path).fail(0, "no"); }, path.string() + ":1: no");
}

// Who opened the old file keeps it whole: a new one takes its place.
TEST(TextFile, IsReplacedAndNeverChanged) {
  const TemporaryFolder folder;
  const fs::path path = folder.write("a.txt", "the old text");
  ::chmod(path.c_str(), 0600);
  std::ifstream old(path);
  write_text(path, "new");
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(old), {}), "the old text");
  EXPECT_EQ(read_text(path), "new");
  EXPECT_EQ(fs::status(path).permissions(), fs::perms(0600));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), {}), 1);
}

TEST(TextFile, MayBeAPipe) {
  const TemporaryFolder folder;
  const fs::path path = folder / "pipe";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  std::string read;
  std::thread reader([&] { read = read_text(path); });
  write_text(path, "through it");
  reader.join();
  EXPECT_EQ(read, "through it");
  EXPECT_TRUE(fs::is_fifo(path));
}

TEST(TextFile, TellsWhyItCannotBeReadOrWritten) {
  const TemporaryFolder folder;
  expect_error([&] { read_text(folder / "no.txt"); },
               "no.txt: cannot be opened for reading: No such file or directory");
  expect_error([&] { read_text(folder.path()); }, ": is a folder, expected a file");
  expect_error([&] { write_text(folder.path(), "x"); }, ": is a folder, expected a file name");
  expect_error([&] { write_text(folder / "no" / "a.txt", "x"); },
               "a.txt: cannot create a file in the folder");
}

TEST(TextFile, IsRefusedBeyondItsLimit) {
  const TemporaryFolder folder;
  const fs::path path = folder.write("a.txt", "twelve bytes");
  EXPECT_EQ(read_text(path, {.bytes = 12}), "twelve bytes");
  expect_error([&] { read_text(path, {.bytes = 11}); }, "a.txt: has more than 11 bytes");
  const fs::path pipe = folder / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::thread writer([&] { write_text(pipe, "twelve bytes"); });
  expect_error([&] { read_text(pipe, {.bytes = 11}); }, "pipe: has more than 11 bytes");
  writer.join();
}

#ifndef SDM_STANDARD_ONLY
TEST(TextFile, WaitsForNobodyForever) {
  const TemporaryFolder folder;
  const fs::path path = folder / "pipe";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  expect_error([&] { read_text(path, {.pipe_seconds = 0.05}); },
               "pipe: is a pipe into which nobody writes");
}
#endif

TEST(AnOutputFile, TakesItsNameWhenItIsFinishedAndNotBefore) {
  const TemporaryFolder folder;
  const fs::path path = folder.write("a.txt", "old");
  {
    OutputFile file(path);
    file.write("half of ");
    EXPECT_EQ(read_text(path), "old");
  }
  EXPECT_EQ(read_text(path), "old");
  OutputFile file(path);
  file.write("the ");
  file.write("new one");
  file.finish();
  EXPECT_EQ(read_text(path), "the new one");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), {}), 1);
}

}  // namespace
}  // namespace sdm::io
