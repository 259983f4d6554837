"""Fits, rigid tracking and pose through the Python package, against what is known to be true."""

import os
import tempfile
import unittest

from need import need

need("numpy")
import numpy as np

import sdm

T = np.linspace(0, 4, 40)
LOWER, UPPER = [0.5, 0.3, -0.5], [2, 3, 0.5]


def decay(x):
    return x[:, :1] * np.exp(-x[:, 1:2] * T) + x[:, 2:]


class Fits(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.solver = sdm.learn(decay, LOWER, UPPER, noise=0.01, log=[1], samples=6000, calibration=3000, progress=False)
        random = np.random.default_rng(2)
        cls.truth = random.uniform(LOWER, UPPER, (3000, 3))
        cls.Y = decay(cls.truth) + random.normal(0, 0.01, (3000, 40))
        cls.answer = cls.solver.solve(cls.Y)

    def test_the_radius_holds_the_truth_as_often_as_it_says(self):
        answer = self.solver.solve(self.Y, confidence=0.9)
        inside = (np.abs(answer.x - self.truth) <= answer.radius).all(axis=1)
        self.assertGreater(inside.mean(), 0.85)
        self.assertGreater(answer.trusted.mean(), 0.95)
        self.assertIn("3000 answers", repr(answer))

    def test_one_answer_is_that_of_the_batch(self):
        for i in (0, 7, 2999):
            one = self.solver.solve(self.Y[i])
            np.testing.assert_array_equal(one.x, self.answer.x[i])
            self.assertEqual(one.status, self.answer.status[i])
            self.assertEqual(one.residual, self.answer.residual[i])

    def test_threads_and_strides_do_not_change_the_bits(self):
        np.testing.assert_array_equal(self.solver.solve(self.Y, threads=3).x, self.answer.x)
        wide = np.zeros((3000, 50))
        wide[:, 5:45] = self.Y
        np.testing.assert_array_equal(self.solver.solve(wide[:, 5:45]).x, self.answer.x)
        np.testing.assert_array_equal(self.solver.solve(self.Y[::-1]).x, self.answer.x[::-1])
        np.testing.assert_array_equal(self.solver.solve(np.asfortranarray(self.Y)).x, self.answer.x)
        np.testing.assert_array_equal(self.solver.solve(self.Y.tolist()).x, self.answer.x)

    def test_refining_gives_the_least_squares_fit(self):
        refined = self.solver.solve(self.Y[:20], refine="always")
        for y, x in zip(self.Y, refined.x):
            fit = sdm.refine(decay, y, x)
            np.testing.assert_allclose(x, fit.x, atol=1e-4)
            residual = decay(fit.x[None])[0] - y
            jacobian = np.stack([np.exp(-fit.x[1] * T), -fit.x[0] * T * np.exp(-fit.x[1] * T), np.ones_like(T)], axis=1)
            self.assertLess(np.abs(jacobian.T @ residual).max(), 1e-5)

    def test_a_measurement_that_no_state_gives_is_not_trusted(self):
        self.assertFalse(bool(self.solver.solve(np.sin(9 * T)).trusted))

    def test_a_solver_is_stored_without_its_function(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "decay.sdm")
            self.solver.save(path)
            again = sdm.load_learned(path, decay)
        np.testing.assert_array_equal(again.solve(self.Y[:50]).x, self.answer.x[:50])

    def test_what_h_raises_comes_out(self):
        def broken(x):
            raise KeyError("the table has no such row")

        with self.assertRaisesRegex(KeyError, "no such row"):
            sdm.learn(broken, [0], [1], features=3)
        calls = []

        def later(x):
            calls.append(len(x))
            if len(calls) > 5:
                raise ZeroDivisionError("later")
            return decay(x)

        with self.assertRaisesRegex(ZeroDivisionError, "later"):
            sdm.learn(later, LOWER, UPPER, noise=0.01, progress=False)
        with self.assertRaisesRegex(sdm.Error, r"shape \(2,\)"):
            sdm.learn(lambda x: x[:, 0], [0], [1])

    def test_curve_fit_takes_what_scipys_takes(self):
        def f(t, a, k, b):
            return a * np.exp(-k * t) + b

        fit = sdm.curve_fit(f, T, self.Y[:200], LOWER, UPPER, log=[1], samples=6000, calibration=3000, progress=False)
        self.assertLess(np.abs(np.median(fit.x - self.truth[:200], axis=0)).max(), 0.02)

        def scalar(t, a, k, b):  # cannot take columns
            return np.array([float(a) * np.exp(-float(k) * s) + float(b) for s in t])

        few = sdm.curve_fit(scalar, T, self.Y[0], LOWER, UPPER, sigma=0.01, samples=500, calibration=300, progress=False)
        self.assertEqual(few.x.shape, (3,))

    def test_a_cascade_learns_on(self):
        x = np.linspace(-1, 1, 200)[:, None]
        cascade = sdm.Cascade(np.sin, [0.0], x, np.sin(x), stages=8, online=True, threads=1)
        found = np.array([cascade.solve(np.sin(v), [0.0])[0] for v in x])
        self.assertLess(np.abs(found - x[:, 0]).max(), 0.02)
        before = cascade.maps[0][0].copy()
        for _ in range(20):
            cascade.update(np.sin([1.2]), [0.0], [1.2], weight=50)
        self.assertLess(abs(cascade.solve(np.sin([1.2]), [0.0])[0] - 1.2), 0.1)
        self.assertFalse(np.array_equal(before, cascade.maps[0][0]))


class Rigid(unittest.TestCase):
    def test_a_patch_is_followed_and_its_tracker_stored(self):
        random = np.random.default_rng(3)
        texture = random.integers(0, 255, (30, 40)).repeat(8, 0).repeat(8, 1).astype(np.uint8)
        tracker = sdm.rigid.Tracker(texture, (100, 80, 90, 70), threads=1)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "patch.sdm")
            tracker.save(path)
            loaded = sdm.rigid.Tracker(model=path)
        for step in range(1, 6):
            frame = np.roll(texture, (2 * step, 3 * step), axis=(0, 1))
            track = tracker.update(frame)
            self.assertFalse(track.lost)
            self.assertLess(np.abs(track.corners[0] - (99.5 + 3 * step, 79.5 + 2 * step)).max(), 0.5)
            np.testing.assert_array_equal(loaded.update(frame).corners, track.corners)
        self.assertTrue(tracker.update(np.full_like(texture, 90)).lost)
        tracker.restart((100, 80, 90, 70))
        self.assertFalse(tracker.update(texture).lost)
        with self.assertRaisesRegex(sdm.Error, "motion"):
            sdm.rigid.Tracker(texture, (100, 80, 90, 70), motion="wobble")
        with self.assertRaises(sdm.Error):
            sdm.rigid.Tracker(np.full_like(texture, 90), (100, 80, 90, 70))


def rotation(axis, degrees):
    a, b = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    i, j = [k for k in range(3) if k != axis]
    matrix = np.eye(3)
    matrix[i, i] = matrix[j, j] = a
    matrix[i, j], matrix[j, i] = -b, b
    return matrix


class Pose(unittest.TestCase):
    def test_poses_are_found_one_by_one_and_in_a_batch(self):
        cube = 100.0 * np.array([[x, y, z] for z in (-1, 1) for y in (-1, 1) for x in (-1, 1)])
        estimator = sdm.pose.Estimator(cube, threads=1, samples=4000)
        random = np.random.default_rng(4)
        truth, pixels = [], []
        for _ in range(50):
            q = rotation(0, random.uniform(-25, 25)) @ rotation(1, random.uniform(-25, 25))
            t = np.array([0, 0, 2000]) + random.uniform(-300, 300, 3)
            seen = cube @ q.T + t
            truth.append((q, t))
            pixels.append(1000 * seen[:, :2] / seen[:, 2:] + 500)
        batch = estimator.estimate_batch(np.array(pixels, np.float32), refine=5)
        for i, (q, t) in enumerate(truth):
            pose = estimator.estimate(pixels[i], refine=10)
            np.testing.assert_allclose(pose.rotation, q, atol=1e-4)
            np.testing.assert_allclose(pose.translation, t, atol=0.1)
            np.testing.assert_allclose(batch.rotation[i], q, atol=0.01)
        hidden = pixels[0].copy()
        hidden[3] = np.nan
        self.assertEqual(estimator.estimate(hidden, refine=10).points, 7)
        with self.assertRaisesRegex(sdm.Error, "shape"):
            estimator.estimate(pixels[0][:5])

    def test_a_head_turns_the_way_that_it_says(self):
        model = sdm.load("face68")
        head = sdm.pose.Head(model)
        pose = head.estimate(100 * model.mean + 300)
        self.assertLess(abs(pose.yaw), 3)
        lean = np.radians(20)
        turned = 100 * model.mean @ np.array([[np.cos(lean), np.sin(lean)], [-np.sin(lean), np.cos(lean)]])
        self.assertAlmostEqual(head.estimate(turned).roll - pose.roll, 20, delta=0.5)


if __name__ == "__main__":
    unittest.main()
