// A user's program that reads a picture by OpenCV: two pixels, one dark and one bright.
#include <sdm/opencv/image.h>

#include <cstdio>

int main(int, char** arguments) {
  const auto grey = sdm::opencv::read_grey(arguments[1]);
  const auto view = grey.view();
  std::printf("%d x %d: %d %d\n", view.width, view.height, view(0, 0), view(1, 0));
  return view.width == 2 && view.height == 1 && view(0, 0) == 10 && view(1, 0) == 200 ? 0 : 1;
}
