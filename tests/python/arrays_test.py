"""Arrays of any type, shape, order and content give the right answer or an sdm.Error, and are never changed."""

import sys
import unittest

from need import need

need("numpy", "hypothesis")
import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

import sdm

FEW = settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
T = np.linspace(0, 1, 6)


def line(x):
    return x[:, :1] + x[:, 1:] * T


SOLVER = sdm.learn(line, [-1, -1], [1, 1], noise=0.01, samples=1500, calibration=800, threads=1, progress=False)
FAST = sdm.load("face68-fast")
CUBE = 100.0 * np.array([[x, y, z] for z in (-1, 1) for y in (-1, 1) for x in (-1, 1)])
ESTIMATOR = sdm.pose.Estimator(CUBE, threads=1, samples=500)

types = st.sampled_from("uint8 int8 uint16 int64 float16 float32 float64 bool complex128 U3 object >f8 datetime64[s]".split())
shapes = npst.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=9)
floats = st.floats(width=32, allow_nan=True, allow_infinity=True)


def any_array():
    return types.flatmap(lambda t: shapes.map(lambda shape: np.zeros(shape, t)))


class Anything(unittest.TestCase):
    """Whatever it is: an answer, or an Error; nothing else is raised and nothing crashes."""

    def attempt(self, call, array):
        before = array.copy()
        try:
            call(array)
        except sdm.Error as error:
            self.assertGreater(len(str(error)), 10)
        if array.dtype.kind != "O":
            np.testing.assert_array_equal(array, before)

    @FEW
    @given(any_array())
    def test_as_a_picture(self, array):
        self.attempt(lambda a: sdm.detect(a), array)
        self.attempt(lambda a: FAST.align(a, (0, 0, 5, 5)), array)
        self.attempt(lambda a: sdm.rigid.Tracker(a, (0, 0, 5, 5), threads=1), array)
        self.attempt(lambda a: sdm.draw(a, []), array)

    @FEW
    @given(any_array())
    def test_as_measurements(self, array):
        self.attempt(SOLVER.solve, array)
        self.attempt(ESTIMATOR.estimate, array)
        self.attempt(ESTIMATOR.estimate_batch, array)
        self.attempt(lambda a: sdm.pose.Head(a), array)
        self.attempt(lambda a: sdm.train([np.zeros((8, 8), np.uint8)] * 3, a, progress=False), array)

    @FEW
    @given(npst.arrays(np.float32, (3, 8, 2), elements=floats))
    def test_as_points_with_any_value(self, array):
        self.attempt(ESTIMATOR.estimate_batch, array)
        self.attempt(lambda a: ESTIMATOR.estimate(a[0]), array)
        self.attempt(lambda a: sdm.pose.Head(CUBE).estimate(a[0]), array)

    @FEW
    @given(st.tuples(floats, floats, floats, floats))
    def test_as_a_box(self, box):
        blank = np.full((40, 60), 90, np.uint8)
        self.attempt(lambda _: FAST.align(blank, box), blank)
        self.attempt(lambda _: sdm.rigid.Tracker(blank, box, threads=1), blank)
        self.attempt(lambda _: sdm.Detector("face68-fast", region=box).detect(blank), blank)


class TheSameNumbers(unittest.TestCase):
    """However they lie in memory, the answer is the same."""

    @FEW
    @given(
        npst.arrays(np.uint8, st.tuples(st.integers(20, 60), st.integers(20, 60), st.just(3))),
        st.sampled_from(["fortran", "step", "upwards", "read only", "part", "list"]),
    )
    def test_of_a_picture(self, picture, way):
        grey = np.ascontiguousarray(picture[:, :, 0])
        expected = FAST.align(grey, (2, 2, 15, 15)).points
        for plain, box in ((grey, (2, 2, 15, 15)),):
            if way == "fortran":
                other = np.asfortranarray(plain)
            elif way == "step":
                other = plain.repeat(2, axis=1)[:, ::2]
            elif way == "upwards":
                other = np.ascontiguousarray(plain[::-1])[::-1]
            elif way == "read only":
                other = plain.copy()
                other.flags.writeable = False
            elif way == "part":
                other = np.pad(plain, 7)[7:-7, 7:-7]
            else:
                other = picture[:, :, 0]
            np.testing.assert_array_equal(FAST.align(other, box).points, expected)

    @FEW
    @given(npst.arrays(np.float64, (20, 2), elements=st.floats(-1, 1)), st.sampled_from("fibdr"))
    def test_of_measurements(self, states, way):
        y = line(states)
        expected = SOLVER.solve(y).x
        if way == "f":
            other = np.asfortranarray(y)
        elif way == "i":
            other = y.astype(">f8")
        elif way == "b":
            other = np.frombuffer(y.tobytes(), np.float64).reshape(y.shape)
        elif way == "d":
            other = y.repeat(2, axis=0)[::2]
        else:
            other = y[::-1].copy()[::-1]
        np.testing.assert_array_equal(SOLVER.solve(other).x, expected)

    def test_rows_that_lie_apart_are_not_copied(self):
        wide = np.zeros((1000, 10))
        part = wide[:, 2:8]
        seen, stride, _ = SOLVER._measured(part)
        self.assertEqual((seen.__array_interface__["data"][0], stride), (part.__array_interface__["data"][0], 10))
        grey = np.zeros((30, 40), np.uint8)
        image, kept = sdm._arrays.image_of(grey[5:, 3:30])
        self.assertEqual(image.data, grey[5:, 3:].__array_interface__["data"][0])
        self.assertEqual(image.stride, 40)

    def test_nothing_and_much(self):
        self.assertEqual(SOLVER.solve(np.empty((0, 6))).x.shape, (0, 2))
        self.assertEqual(len(ESTIMATOR.estimate_batch(np.empty((0, 8, 2)))), 0)
        with self.assertRaisesRegex(sdm.Error, "not finite"):
            SOLVER.solve(np.full((5, 6), np.nan))
        huge = np.broadcast_to(np.uint8(7), (3, 2_000_000))
        with self.assertRaisesRegex(sdm.Error, "2000000"):
            sdm.detect(huge)


if __name__ == "__main__":
    unittest.main()
