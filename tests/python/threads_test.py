"""Many threads share models and get the answers of one; Ctrl-C ends a training; making and dropping leaves nothing."""

import gc
import os
import signal
import threading
import time
import unittest

from need import need

need("numpy")
import numpy as np

import sdm


def decay(x):
    return x[:, :1] * np.exp(-x[:, 1:] * np.linspace(0, 4, 30))


def in_threads(count, work):
    """What work(i) gives, all at once."""
    results, errors = [None] * count, []

    def run(i):
        try:
            results[i] = work(i)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return results


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Threads(unittest.TestCase):
    def test_eight_threads_on_one_model_give_the_answers_of_one(self):
        model = sdm.load("face68-fast")
        random = np.random.default_rng(1)
        pictures = [random.integers(0, 255, (120, 160), dtype=np.uint8) for _ in range(8)]
        expected = [model.align(p, (20, 20, 80, 80)).points for p in pictures]
        found = in_threads(8, lambda i: [model.align(pictures[i], (20, 20, 80, 80)).points for _ in range(30)])
        for points, many in zip(expected, found):
            for other in many:
                np.testing.assert_array_equal(other, points)

    def test_eight_threads_share_a_solver_and_a_detector(self):
        solver = sdm.learn(decay, [0.5, 0.5], [2, 2], noise=0.01, samples=2000, calibration=1000, progress=False)
        states = np.random.default_rng(2).uniform(0.6, 1.9, (400, 2))
        Y = decay(states)
        expected = solver.solve(Y).x
        for x in in_threads(8, lambda i: solver.solve(Y).x):
            np.testing.assert_array_equal(x, expected)
        blank = np.zeros((90, 120), np.uint8)
        self.assertEqual(in_threads(8, lambda i: len(sdm.detect(blank))), [0] * 8)

    def test_other_threads_run_during_a_call(self):
        turns = []
        done = threading.Event()

        def count():
            while not done.is_set():
                turns.append(time.perf_counter())
                time.sleep(0.001)

        other = threading.Thread(target=count)
        random = np.random.default_rng(3)
        texture = random.integers(0, 255, (20, 25)).repeat(8, 0).repeat(8, 1).astype(np.uint8)
        other.start()
        begin = time.perf_counter()
        sdm.rigid.Tracker(texture, (40, 40, 80, 80), threads=1)
        end = time.perf_counter()
        done.set()
        other.join()
        self.assertGreater(sum(begin < t < end for t in turns), 0)


class Interrupts(unittest.TestCase):
    def interrupted(self, work):
        timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
        timer.start()
        begin = time.perf_counter()
        try:
            with self.assertRaises(KeyboardInterrupt):
                work()
        finally:
            timer.join()
        return time.perf_counter() - begin

    def test_ctrl_c_stops_a_learning(self):
        self.interrupted(lambda: sdm.learn(decay, [0.5, 0.5], [2, 2], noise=0.01, samples=3_000_000, progress=False))

    def test_ctrl_c_stops_a_training(self):
        random = np.random.default_rng(4)
        pictures = [random.integers(0, 255, (64, 64), dtype=np.uint8) for _ in range(60)]
        points = random.uniform(10, 50, (60, 6, 2))
        self.interrupted(lambda: sdm.train(pictures, points, budget=600, progress=False))


class Leaks(unittest.TestCase):
    def test_making_and_dropping_handles_leaves_nothing(self):
        model = sdm.models.load("face-detector")
        data = model.to_bytes()
        picture = np.zeros((40, 40), np.uint8)
        fast = sdm.load("face68-fast")
        kept = []
        for cycle in range(3000):
            sdm.faces.ModelFile.from_bytes(data)
            try:
                fast.align(picture, (0, 0, 0, 0))
            except sdm.Error:
                pass
            if cycle in (1000, 2999):
                gc.collect()
                kept.append(resident())
        self.assertLess(kept[1] - kept[0], 4e6)

    def test_no_kind_of_handle_stays_behind(self):
        texture = np.random.default_rng(5).integers(0, 255, (18, 24), dtype=np.uint8).repeat(8, 0).repeat(8, 1)
        patch = sdm.rigid.Tracker(texture, (50, 40, 80, 60), threads=1, samples=300).model
        cube = 100.0 * np.array([[x, y, z] for z in (-1, 1) for y in (-1, 1) for x in (-1, 1)])
        object_ = sdm.pose.Estimator(cube, threads=1, samples=300).model
        fast, blank = sdm.load("face68-fast"), np.zeros((60, 80), np.uint8)
        x = np.linspace(-1, 1, 50)[:, None]
        little = dict(noise=0.01, samples=200, calibration=150, threads=1, progress=False)

        def failing(_):
            raise LookupError

        def fails():
            try:
                sdm.learn(failing, [0], [1], features=3, **little)
            except LookupError:
                pass

        kinds = {
            "aligner": lambda: sdm.FaceModel(fast._handle).align(blank, (5, 5, 40, 40)),
            "detector": lambda: sdm.Detector(fast, verifier=fast).detect(blank),
            "tracker": lambda: sdm.Tracker(fast, verifier=fast).update(blank),
            "adapter": lambda: sdm.Adapter("face68-fast").model,
            "rigid": lambda: sdm.rigid.Tracker(model=patch).update(texture),
            "pose": lambda: sdm.pose.Estimator(model=object_),
            "head": lambda: sdm.pose.Head(cube),
            "learned": lambda: sdm.learn(decay, [0.5, 0.5], [2, 2], **little),
            "learned that fails": fails,
            "cascade": lambda: sdm.Cascade(np.sin, [0.0], x, np.sin(x), stages=2, threads=1),
        }
        gc.collect()
        gc.disable()  # what is dropped must go at once, and not when Python looks for circles
        self.addCleanup(gc.enable)
        for kind, make in kinds.items():
            kept = []
            for cycle in range(90):
                make()
                if cycle in (30, 89):
                    kept.append(resident())
            self.assertLess(kept[1] - kept[0], 3e6, kind)


if __name__ == "__main__":
    unittest.main()
