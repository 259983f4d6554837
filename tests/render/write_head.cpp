// write_head FOLDER: the small head as ICT-FaceKit's files, for tests of the tool.
#include "tests/render/small_head.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  sdm::render::write_head(sdm::render::make_small_head(), argv[1]);
  return 0;
}
