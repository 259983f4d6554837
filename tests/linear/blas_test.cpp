#include "linear/blas.h"

#include <gtest/gtest.h>

#include <memory>

#include "sdm/base/thread_pool.h"
#include "sdm/linear/ridge.h"
#include "tests/linear/samples.h"

#ifdef SDM_HAVE_OPENBLAS
extern "C" {
void openblas_set_num_threads(int threads);
int openblas_get_num_threads();
}

namespace sdm::linear {
namespace {

class OpenBlasThreads : public testing::Test {
 protected:
  ~OpenBlasThreads() override { openblas_set_num_threads(before_); }

 private:
  int before_ = openblas_get_num_threads();
};

TEST_F(OpenBlasThreads, AreOneWhileAnyGuardLivesAndComeBackAfterTheLast) {
  openblas_set_num_threads(2);
  const int many = openblas_get_num_threads();
  auto first = std::make_unique<blas::SingleThreaded>(),
       second = std::make_unique<blas::SingleThreaded>();
  EXPECT_EQ(openblas_get_num_threads(), 1);
  first.reset();
  EXPECT_EQ(openblas_get_num_threads(), 1);
  second.reset();
  EXPECT_EQ(openblas_get_num_threads(), many);
}

TEST_F(OpenBlasThreads, DoNotChangeTheBitsOfARegression) {
  const Samples samples(700, 40, 900, 5);
  const auto weights = [&](int threads) {
    openblas_set_num_threads(threads);
    ThreadPool pool(1);
    return ridge(samples.equations<float>(pool), 0.1, true, pool).weights;
  };
  EXPECT_TRUE(weights(1) == weights(2));
}

}  // namespace
}  // namespace sdm::linear
#endif
