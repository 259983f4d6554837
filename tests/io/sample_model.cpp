#include "sdm/io/file.h"
#include "tests/io/sample.h"

int main(int, char** arguments) { sdm::io::write(arguments[1], sdm::io::sample_model()); }
