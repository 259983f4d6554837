// libsdm.so is made of the rooms c and c/train; this file is there for the linker.
#include "sdm/c.h"

static_assert(SDM_C_VERSION == 1, "the library's SOVERSION and cmake/libsdm.map say 1");
