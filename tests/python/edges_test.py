"""What strangers try: paths that are none, options that do not fit, functions h that fail, forks, files that change."""

import os
import subprocess
import sys
import tempfile
import threading
import unittest

from need import need

need("numpy")
import numpy as np

import sdm
import sdm._version

GREY = np.full((60, 80), 90, np.uint8)
T = np.linspace(0, 1, 6)
LOWER, UPPER = [-1, -1], [1, 1]
LITTLE = dict(noise=0.01, samples=1500, calibration=800, progress=False)


def line(x):
    return x[:, :1] + x[:, 1:] * T


class Paths(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.model = sdm.load("face68-fast")

    def test_what_is_not_there_is_named(self):
        for call in (sdm.load, sdm.detect, sdm.models.load, lambda p: list(sdm.Tracker().video(p))):
            with self.assertRaisesRegex(sdm.Error, "no/such/thing"):
                call("no/such/thing.sdm")
        with self.assertRaisesRegex(sdm.Error, "no/such/folder"):
            self.model.save("no/such/folder/x.sdm")
        for folder in (self.folder.name, self.folder.name + "/"):
            with self.assertRaises(sdm.Error):
                sdm.load(folder)
            with self.assertRaises(sdm.Error):
                sdm.detect(folder)

    def test_a_zero_in_a_path_does_not_end_it(self):
        real = os.path.join(self.folder.name, "real.sdm")
        self.model.save(real)
        for call in (sdm.load, self.model.save, sdm.detect):
            with self.assertRaises(sdm.Error):
                call(real + "\0.sdm")
        self.assertEqual(os.listdir(self.folder.name), ["real.sdm"])

    def test_a_path_need_not_be_utf8(self):
        path = os.path.join(os.fsencode(self.folder.name), b"\xff\xe9.sdm")
        self.model.save(path)
        for way in (path, os.fsdecode(path)):
            self.assertEqual(sdm.load(way).points, 68)
        with self.assertRaisesRegex(sdm.Error, "cannot open"):
            sdm.load(path + b".sdm")

    def test_what_is_no_path_is_refused(self):
        for wrong in (5, None, 1.5, ["face68"]):
            with self.assertRaises(sdm.Error):
                sdm.load(wrong)

    def test_a_file_that_changes_is_read_again(self):
        path = os.path.join(self.folder.name, "mine.sdm")
        texture = np.random.default_rng(1).integers(0, 255, (18, 24), dtype=np.uint8).repeat(8, 0).repeat(8, 1)
        for corner in (30, 60):
            sdm.rigid.Tracker(texture, (corner, 40, 80, 60), threads=1).save(path)
            x = sdm.rigid.Tracker(model=path).update(texture).corners[0][0]
            self.assertAlmostEqual(x, corner - 0.5, delta=0.5)

    def test_a_broken_picture_is_refused_whatever_its_reader_raises(self):
        need("PIL")
        from PIL import Image

        path = os.path.join(self.folder.name, "picture.png")
        Image.fromarray(GREY).save(path)
        with open(path, "rb") as file:
            whole = file.read()
        for cut in (0, 10, 40, len(whole) // 2):
            with open(path, "wb") as file:
                file.write(whole[:cut])
            with self.assertRaisesRegex(sdm.Error, "picture.png"):
                sdm.detect(path)

    def test_sixteen_bits_are_made_eight_and_not_cut_off(self):
        need("PIL")
        from PIL import Image

        deep = (np.arange(60 * 80).reshape(60, 80) * 13).astype(np.uint16)
        path = os.path.join(self.folder.name, "deep.png")
        Image.fromarray(deep).save(path)
        np.testing.assert_array_equal(sdm._arrays.pixels_of(path), deep >> 8)


class Options(unittest.TestCase):
    def test_numbers_that_do_not_fit_are_refused_and_not_cut(self):
        for wrong in (2**40, 2**32 + 1, -(2**33), 1.5, "many"):
            with self.assertRaisesRegex(sdm.Error, "most is"):
                sdm.detect(GREY, most=wrong)
            with self.assertRaisesRegex(sdm.Error, "faces is"):
                sdm.Tracker(faces=wrong)
            with self.assertRaisesRegex(sdm.Error, "stages is"):
                sdm.pose.Estimator(np.eye(4, 3), stages=wrong)
        with self.assertRaisesRegex(sdm.Error, "seed"):
            sdm.learn(line, LOWER, UPPER, noise=0.1, seed=-1)
        with self.assertRaisesRegex(sdm.Error, "min_score"):
            sdm.Detector(min_score="high")

    def test_options_that_do_not_exist_are_named(self):
        for call in (sdm.detect, lambda _, **more: sdm.Tracker(**more)):
            with self.assertRaisesRegex(sdm.Error, "banana"):
                call(GREY, banana=1)
        with self.assertRaisesRegex(sdm.Error, "size"):
            sdm.Tracker(size=3)

    def test_a_budget_that_is_no_time_is_refused(self):
        pictures, points = [GREY] * 4, np.random.default_rng(1).uniform(10, 50, (4, 5, 2))
        for wrong in (-1, float("nan")):
            with self.assertRaisesRegex(sdm.Error, "budget"):
                sdm.train(pictures, points, budget=wrong, progress=False)

    def test_points_in_a_mirror_are_whole_numbers(self):
        for wrong in ([0.5, 1.5], [0, 2**40], [[0, 1]], "ab"):
            with self.assertRaisesRegex(sdm.Error, "mirror"):
                sdm.train([GREY] * 3, np.ones((3, 2, 2)), mirror=wrong, progress=False)

    def test_pictures_may_come_one_by_one(self):
        with self.assertRaisesRegex(sdm.Error, r"shape \(3, 2, 2\), expected \(2"):
            sdm.train((GREY for _ in range(2)), np.ones((3, 2, 2)), progress=False)
        with self.assertRaisesRegex(sdm.Error, "picture"):
            sdm.train(5, np.ones((3, 2, 2)), progress=False)

    def test_what_does_not_fit_into_memory_is_an_error_of_both_kinds(self):
        for call in (
            lambda: sdm.detect(np.broadcast_to(np.uint8(7), (1_000_000, 1_000_000))),
            lambda: sdm.learn(line, LOWER, UPPER, noise=0.1, samples=10**18, progress=False),
        ):
            with self.assertRaises(MemoryError) as caught:
                call()
            self.assertIsInstance(caught.exception, sdm.Error)

    def test_what_is_masked_is_not_known(self):
        cube = 100.0 * np.array([[x, y, z] for z in (-1, 1) for y in (-1, 1) for x in (-1, 1)])
        estimator = sdm.pose.Estimator(cube, threads=1, samples=500)
        seen = cube + (0, 0, 2000)
        pixels = 1000 * seen[:, :2] / seen[:, 2:] + 500
        hidden = np.zeros((8, 2), bool)
        hidden[3] = True
        self.assertEqual(estimator.estimate(np.ma.masked_array(pixels, hidden)).points, 7)

    def test_a_picture_of_one_pixel_has_no_face(self):
        for shape in ((1, 1), (1, 1, 3), (1, 3000), (3000, 1)):
            self.assertEqual(sdm.detect(np.zeros(shape, np.uint8)), [])
            self.assertEqual(sdm.Tracker().update(np.zeros(shape, np.uint8)), [])
        with self.assertRaises(sdm.Error):
            sdm.detect(np.zeros((0, 0), np.uint8))

    def test_what_was_cut_out_of_a_drawing_is_no_picture(self):
        drawn = sdm.draw(GREY, [])
        self.assertEqual(drawn._repr_png_()[:4], b"\x89PNG")
        self.assertIsNone(drawn[..., 0]._repr_png_())
        self.assertIsNone((drawn / 2)._repr_png_())
        with self.assertRaises(sdm.Error):
            sdm.draw(GREY, None)
        with self.assertRaises(sdm.Error):
            sdm.draw(GREY, [], format="nonsense")


class Licences(unittest.TestCase):
    def test_free_takes_models_that_everybody_may_use_and_nothing_else(self):
        free = sdm.Detector(free=True)
        self.assertTrue(all(model.is_free for model in free._models))
        self.assertFalse(sdm.load("face68").is_free)
        self.assertEqual(sdm.detect(GREY, free=True), [])
        self.assertEqual(sdm.Tracker(free=True).update(GREY), [])
        for call in (
            lambda: sdm.Detector("face68", free=True),
            lambda: sdm.Tracker(windows="face-detector", free=True),
        ):
            with self.assertRaisesRegex(sdm.Error, "licence"):
                call()

    def test_what_stands_on_a_model_is_as_free_as_that(self):
        model = sdm.models.ModelFile.load(sdm.models.find("face68"))
        for licence, free in (
            ("Apache-2.0", True),
            ("Apache-2.0; of the base: MIT", True),
            ("Apache-2.0; of the base: research only", False),
            ("research only; of the base: MIT", False),
        ):
            model._info = {"header": {"licence": licence}, "tensors": []}
            self.assertEqual(model.is_free, free, licence)

    def test_a_free_model_brings_a_free_detector(self):
        self.assertTrue(all(model.is_free for model in sdm.Detector("face68-free-fast")._models))
        licences = sdm.models.licences()
        self.assertEqual(set(licences), set(sdm.models.names()))
        self.assertIn("research", licences["face68"])


class TheFunctionOfTheCaller(unittest.TestCase):
    """h is somebody else's code: what it does wrong stays its own."""

    def test_one_thread_is_one_when_learning_too(self):
        seen = set()

        def f(t, a, b):
            seen.add(threading.get_ident())
            return a + b * t

        little = {name: value for name, value in LITTLE.items() if name != "noise"}
        sdm.curve_fit(f, T, np.ones((3, len(T))), LOWER, UPPER, sigma=0.01, threads=1, **little)
        self.assertEqual(seen, {threading.get_ident()})

    def test_a_function_that_mixes_states_is_called_one_by_one_whatever_its_unit(self):
        def f(t, a, b):
            return 1e-12 * (a + b * t) / np.max(np.abs(2 + a * t))

        h = sdm.fitting._columns(f, T, np.array([0.5, 0.5]), np.array([1.0, 1.0]))
        self.assertEqual(h.__name__, "one_by_one")

    def test_rows_of_different_lengths_are_an_error_of_ours(self):
        for call in (
            lambda: sdm.rigid.Tracker(GREY, [[1, 2], [3]]),
            lambda: sdm.learn(line, [[1], [1, 2]], UPPER),
            lambda: sdm.curve_fit(lambda t, a, b: a + b * t, T, [[1, 2], [3]], LOWER, UPPER),
            lambda: sdm.learn(line, LOWER, UPPER, log=5),
        ):
            with self.assertRaises(sdm.Error):
                call()

    def test_it_may_change_and_keep_what_it_is_given(self):
        kept = []

        def spoiling(x):
            kept.append(x)
            values = line(x)
            x[:] = 1e30
            return values

        solver = sdm.learn(spoiling, LOWER, UPPER, threads=1, **LITTLE)
        expected = sdm.learn(line, LOWER, UPPER, threads=1, **LITTLE)
        states = np.random.default_rng(1).uniform(-0.9, 0.9, (50, 2))
        np.testing.assert_array_equal(solver.solve(line(states)).x, expected.solve(line(states)).x)
        self.assertTrue(all((x == 1e30).all() for x in kept))

    def test_what_is_no_number_is_refused(self):
        for wrong in (lambda x: line(x) + 1j, lambda x: np.full((len(x), 6), "a"), lambda x: None, 5, "sin"):
            with self.assertRaises(sdm.Error):
                sdm.learn(wrong, LOWER, UPPER, **LITTLE)

    def test_another_shape_later_is_an_error(self):
        solver = sdm.learn(line, LOWER, UPPER, threads=1, **LITTLE)
        with tempfile.TemporaryDirectory() as folder:
            solver.save(os.path.join(folder, "line.sdm"))
            other = sdm.load_learned(os.path.join(folder, "line.sdm"), lambda x: line(x)[:, :3])
        with self.assertRaisesRegex(sdm.Error, r"shape \(\d+, 3\)"):
            other.solve(line(np.zeros((3, 2))), refine="always")

    def test_a_start_or_a_jacobian_of_another_shape_is_refused(self):
        with self.assertRaisesRegex(sdm.Error, r"start gave .*\(3,\)"):
            sdm.learn(line, LOWER, UPPER, start=lambda y: [1, 2, 3], **LITTLE)
        with self.assertRaisesRegex(sdm.Error, r"Jacobian has the shape \(1, 1\)"):
            sdm.refine(line, T, [0, 0], jacobian=lambda x: [[1]])

    def test_an_error_comes_out_of_the_call_that_it_belongs_to(self):
        wrong = threading.local()

        def sometimes(x):
            if getattr(wrong, "here", False):
                raise LookupError("mine")
            return line(x)

        solver = sdm.learn(sometimes, LOWER, UPPER, threads=1, **LITTLE)
        y = line(np.random.default_rng(1).uniform(-0.9, 0.9, (200, 2)))
        expected = solver.solve(y, refine="always").x
        results = [None] * 8

        def work(i):
            wrong.here = i % 2 == 1
            seen = []
            for _ in range(20):
                try:
                    seen.append(np.array_equal(solver.solve(y, refine="always").x, expected))
                except LookupError as error:
                    seen.append(str(error))
            results[i] = seen

        threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(results, [[True] * 20, ["mine"] * 20] * 4)

    def test_an_error_in_a_thread_of_the_library_comes_out(self):
        failing = []

        def sometimes(x):
            if failing:
                raise LookupError("in a thread")
            return line(x)

        solver = sdm.learn(sometimes, LOWER, UPPER, threads=2, **LITTLE)
        y = line(np.random.default_rng(1).uniform(-0.9, 0.9, (5000, 2)))
        expected = solver.solve(y, refine="always").x
        failing.append(True)
        with self.assertRaisesRegex(LookupError, "in a thread"):
            solver.solve(y, refine="always", threads=3)
        failing.clear()
        np.testing.assert_array_equal(solver.solve(y, refine="always", threads=3).x, expected)

    def test_a_cascade_goes_through_a_file_and_learns_on(self):
        x = np.linspace(-1, 1, 80)[:, None]
        cascade = sdm.Cascade(np.sin, [0.0], x, np.sin(x), stages=5, online=True, threads=1)
        with tempfile.TemporaryDirectory() as folder:
            cascade.save(os.path.join(folder, "sin.sdm"))
            again = sdm.Cascade.load(os.path.join(folder, "sin.sdm"), np.sin)
            with self.assertRaisesRegex(sdm.Error, "kind"):
                sdm.Cascade.load("face-detector", np.sin)
        for one in (cascade, again):
            one.update(np.sin([1.1]), [0.0], [1.1], weight=20)
        np.testing.assert_array_equal(again.solve(np.sin([0.3]), [0.0]), cascade.solve(np.sin([0.3]), [0.0]))


class Processes(unittest.TestCase):
    def test_a_fork_goes_on_with_what_its_parent_loaded(self):
        solver = sdm.learn(line, LOWER, UPPER, threads=2, **LITTLE)
        model, detector = sdm.load("face68-fast"), sdm.Detector("face68-fast")
        y = line(np.zeros((5, 2)))
        expected = solver.solve(y, threads=2).x, model.align(GREY, (10, 10, 40, 40)).points
        child = os.fork()
        if child == 0:
            try:
                same = np.array_equal(solver.solve(y, threads=2).x, expected[0])
                same &= np.array_equal(model.align(GREY, (10, 10, 40, 40)).points, expected[1])
                same &= detector.detect(GREY) == []
                sdm.learn(line, LOWER, UPPER, threads=2, **LITTLE)
                os._exit(0 if same else 1)
            except BaseException:
                os._exit(2)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)

    def test_without_numpy_importing_says_what_to_install(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "numpy.py"), "w") as file:
                file.write("raise ImportError('there is none')")
            path = os.pathsep.join([folder, os.environ.get("PYTHONPATH", "")])
            ran = subprocess.run(
                [sys.executable, "-c", "import sdm"], env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True
            )
        self.assertNotEqual(ran.returncode, 0)
        self.assertIn("python3-numpy", ran.stderr)

    def test_the_package_and_the_library_have_one_version(self):
        self.assertEqual(sdm._version.VERSION, sdm.__version__)


if __name__ == "__main__":
    unittest.main()
