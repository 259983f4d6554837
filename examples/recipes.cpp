// The recipes of docs/recipes.md: what stands there stands here, and runs as a test.

#include <sdm/sdm.h>

#include <cmath>
#include <cstdio>
#include <filesystem>

namespace {

using sdm::Index;
using Scale = sdm::Axis::Scale;

bool report(const char* what, bool good) {
  std::printf("%-24s %s\n", what, good ? "as expected" : "NOT AS EXPECTED");
  return good;
}

// A peak of counts on a grid of 11 x 11 pixels: the same fit for every spot of every frame.
bool peaks() {
  const auto h = sdm::batched([](const auto& x, auto&& out) {
    Eigen::Array<double, 1, Eigen::Dynamic, Eigen::RowMajor, 1, 64> along[11], across[11];
    const auto width = -0.5 / x.row(3).array().square();
    for (int i = 0; i < 11; ++i) {
      along[i] = ((i - 5 - x.row(1).array()).square() * width).exp();
      across[i] = ((i - 5 - x.row(2).array()).square() * width).exp() * x.row(0).array();
    }
    for (int r = 0; r < 11; ++r)
      for (int c = 0; c < 11; ++c)
        out.row(11 * r + c).array() = across[r] * along[c] + x.row(4).array();
  });
  const sdm::Box box{{50, 500, Scale::kLinear, "peak"},
                     {-1.5, 1.5, Scale::kLinear, "x"},
                     {-1.5, 1.5, Scale::kLinear, "y"},
                     {0.9, 1.8, Scale::kLinear, "sigma"},
                     {5, 50, Scale::kLinear, "background"}};
  sdm::LearnOptions options;
  options.features = 121;
  options.noise = sdm::Noise::poisson();
  options.samples = 4000;  // so that this example is quick; the default is better
  options.calibration = 2000;
  const sdm::Learned spots = sdm::learn(h, box, options);

  sdm::Matrix<double> frames(121, 500);
  sdm::Matrix<double> truth(5, 500);
  sdm::Random random(1, "spots");
  for (Index i = 0; i < 500; ++i) {
    for (Index j = 0; j < 5; ++j) truth(j, i) = box.from_unit(j, random.uniform(-1, 1));
    sdm::Vector<double> image(121);
    h(sdm::Vector<double>(truth.col(i)), image);
    options.noise.add(image, random);
    frames.col(i) = image;
  }
  sdm::ThreadPool pool;
  const sdm::Answers answers = spots.solve_batch(frames, pool);
  std::puts(answers.brief_report().c_str());
  for (Index i = 0; i < answers.size(); ++i)
    if (answers.trust[std::size_t(i)] != sdm::Trust::kTrusted) continue;  // look at these again

  const double error = std::sqrt((answers.x.row(1) - truth.row(1)).squaredNorm() / 500);
  return report("peaks", error < 0.1 && answers.count(sdm::Trust::kTrusted) > 480);
}

// An arm with three joints in a plane: joint angles from where the hand is and points.
bool inverse_kinematics() {
  const auto hand = [](const auto& angles) {
    const double a = angles[0], b = a + angles[1], c = b + angles[2];
    return Eigen::Vector3d(std::cos(a) + 0.7 * std::cos(b) + 0.3 * std::cos(c),
                           std::sin(a) + 0.7 * std::sin(b) + 0.3 * std::sin(c), c);
  };
  const sdm::Box limits{{-1.5, 1.5}, {0.3, 2.4}, {-1, 1}};
  const sdm::Learned inverse = sdm::learn(hand, limits);

  const sdm::Vector<double> goal = hand(Eigen::Vector3d(0.4, 1.1, -0.3));
  sdm::LearnedSolveOptions exact;
  exact.refine = sdm::RefineWhen::kAlways;  // to the last digits, by Broyden's method from there
  exact.refine_options = {};
  const sdm::Answer joints = inverse.solve(goal, exact);

  const double far = (joints.x - Eigen::Vector3d(0.4, 1.1, -0.3)).norm();
  const sdm::Vector<double> out_of_reach = Eigen::Vector3d(5, 0, 0);
  return report("inverse kinematics",
                joints.trusted() && far < 1e-8 && !inverse.solve(out_of_reach).trusted());
}

// A camera with lens distortion looks at eight known points: its pose from their pixels.
bool camera_pose() {
  const auto pixels = [](const auto& x, auto&& out) {
    const sdm::pose::Rotation turn = sdm::pose::from_euler({x[0], x[1], x[2]});
    for (int i = 0; i < 8; ++i) {
      const Eigen::Vector3d corner(i & 1 ? 100 : -100, i & 2 ? 100 : -100, i & 4 ? 100 : -100);
      const Eigen::Vector3d p = turn * corner + Eigen::Vector3d(x[3], x[4], x[5]);
      const double u = p[0] / p[2], v = p[1] / p[2], bent = 1 - 0.2 * (u * u + v * v);
      out[2 * i] = 900 * bent * u;
      out[2 * i + 1] = 900 * bent * v;
    }
  };
  const sdm::Box box{{-0.5, 0.5}, {-0.5, 0.5}, {-0.5, 0.5},                // radians
                     {-200, 200}, {-200, 200}, {900, 1500, Scale::kLog}};  // millimetres
  sdm::LearnOptions options;
  options.features = 16;
  options.noise = sdm::Noise::gaussian(0.5);  // pixels
  const sdm::Learned pose = sdm::learn(pixels, box, options);

  sdm::Vector<double> truth(6), seen(16);
  truth << 0.2, -0.3, 0.1, 50, -80, 1200;
  pixels(truth, seen);
  const sdm::Answer answer = pose.solve(seen);
  const bool within = ((answer.x - truth).cwiseAbs().array() <= answer.radius.array()).all();
  return report("camera pose", answer.trusted() && within);
}

// A simulation that takes its time: length, damping and push of a pendulum from its swing.
bool simulation() {
  const auto swing = [](const auto& x) {
    sdm::Vector<double> angles(20);
    double angle = 0.1, speed = x[2];
    for (int step = 0; step < 400; ++step) {
      speed += 0.01 * (-9.81 / x[0] * std::sin(angle) - x[1] * speed);
      angle += 0.01 * speed;
      if (step % 20 == 19) angles[step / 20] = angle;
    }
    return angles;
  };
  const sdm::Box box{{0.8, 1.6, Scale::kLinear, "length"},
                     {0.05, 0.5, Scale::kLog, "damping"},
                     {0.5, 2, Scale::kLinear, "push"}};
  sdm::LearnOptions options;
  options.noise = sdm::Noise::gaussian(0.01);
  options.evaluations = 20000;  // of the simulation, in all
  options.progress = [](const char* activity, double share, double seconds_left) {
    std::fprintf(stderr, "%s: %.0f %%, %.0f s left\n", activity, 100 * share, seconds_left);
  };
  const sdm::Learned pendulum = sdm::learn(swing, box, options);
  pendulum.save("pendulum.sdm");

  // Elsewhere, another day: the file and the same simulation.
  const sdm::Learned again = sdm::Learned::load("pendulum.sdm", swing);
  const sdm::Answer answer = again.solve(swing(Eigen::Vector3d(1.1, 0.2, 1.3)));

  std::filesystem::remove("pendulum.sdm");
  std::printf("%s\n%s\n", again.brief_report().c_str(), answer.message().c_str());
  return report("simulation", answer.trusted() && std::abs(answer.x[0] - 1.1) < 0.02);
}

}  // namespace

int main() {
  const bool good[] = {peaks(), inverse_kinematics(), camera_pose(), simulation()};
  return good[0] && good[1] && good[2] && good[3] ? 0 : 1;
}
