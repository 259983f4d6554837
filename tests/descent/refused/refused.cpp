// Programs that must not compile, one for each REFUSED_... (refused_test.py): a member that is
// there but would be passed over in silence.
#include <sdm/descent/train/train.h>

struct Good {
  using Scalar = double;
  sdm::Index samples() const { return 3; }
  sdm::Index state_size() const { return 1; }
  sdm::Index feature_size(int) const { return 1; }
  bool template_known() const { return false; }
  void features(sdm::Index, int, sdm::ConstVectorRef<double> x, sdm::VectorRef<double> out) const {
    out = x;
  }
};

struct Tried : Good {
#if defined(REFUSED_WEIGHT)
  double weight(sdm::Index) { return 1; }  // not const
#elif defined(REFUSED_GROUP)
  sdm::Index group() const { return 0; }  // of no sample
#elif defined(REFUSED_ERROR)
  double error(sdm::ConstVectorRef<double> delta) const { return delta.norm(); }  // of no sample
#elif defined(REFUSED_STEP)
  void step(int, sdm::ConstVectorRef<double> x, sdm::ConstVectorRef<double> delta,
            sdm::VectorRef<double> out) const {  // without difference
    out = x + delta;
  }
#elif defined(REFUSED_OLD_STEP)
  void difference(sdm::ConstVectorRef<double> x, sdm::ConstVectorRef<double> target,
                  sdm::VectorRef<double> out) const {
    out = target - x;
  }
  void step(sdm::ConstVectorRef<double> x, sdm::ConstVectorRef<double> delta,
            sdm::VectorRef<double> out) const {  // is not told the stage
    out = x + delta;
  }
#elif defined(REFUSED_DELTA_SIZE)
  sdm::Index delta_size() const { return 1; }  // without difference and step
#elif defined(REFUSED_SYMMETRY)
  sdm::Symmetry symmetry() const { return {}; }  // of no stage
#elif defined(REFUSED_LEARNED)
  void learned(int) const {}  // no map
#endif
};

int main() {
  const sdm::Matrix<double> starts = sdm::Matrix<double>::Random(1, 3);
  sdm::train(Tried(), starts, sdm::Matrix<double>(starts));
}
