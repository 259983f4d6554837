"""Faces through the Python package: drawn ones everywhere, real ones where ../shared has some.

    faces_test.py DATA
"""

import os
import pickle
import sys
import tempfile
import unittest

from need import need

need("numpy")
import numpy as np

import sdm

DATA = sys.argv.pop() if len(sys.argv) > 1 else ""


def squares(count, seed=1, side=64):
    """Bright squares on noise, with their corners: what a model can learn in a second."""
    random = np.random.default_rng(seed)
    pictures, points, boxes = [], [], []
    rows, columns = np.mgrid[:side, :side]
    for _ in range(count):
        x, y, half = random.uniform(24, 40), random.uniform(24, 40), random.uniform(9, 13)
        inside = (abs(columns - x) < half) & (abs(rows - y) < half)
        noisy = np.where(inside, 200, 60) + random.normal(0, 8, (side, side))
        pictures.append(np.clip(noisy, 0, 255).astype(np.uint8))
        points.append([[x - half, y - half], [x + half, y - half], [x + half, y + half], [x - half, y + half]])
        boxes.append([x - half, y - half, 2 * half, 2 * half])
    return pictures, np.array(points), np.array(boxes) + random.normal(0, 1, (count, 4)) * [1, 1, 0.5, 0.5]


class OwnLandmarks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.pictures, cls.points, cls.boxes = squares(60)
        cls.model = sdm.train(
            cls.pictures[:40], cls.points[:40], cls.boxes[:40], budget=2, threads=1, progress=False, name="squares"
        )

    def test_a_model_finds_what_it_has_not_seen(self):
        result = self.model.evaluate(self.pictures[40:], self.points[40:], self.boxes[40:], normaliser="pixels")
        self.assertLess(result.median, 1.5)
        by_hand = np.sqrt(((result.found - self.points[40:]) ** 2).sum(axis=2).mean(axis=1))
        np.testing.assert_allclose(result.errors, by_hand, rtol=1e-3)
        self.assertIn("20 faces", repr(result))
        self.assertIn("held-out", self.model.report)

    def test_aligning_one_face_gives_the_same_as_evaluating_many(self):
        result = self.model.evaluate(self.pictures[40:42], self.points[40:42], self.boxes[40:42])
        for picture, box, found in zip(self.pictures[40:], self.boxes[40:], result.found):
            np.testing.assert_array_equal(self.model.align(picture, box).points, found)

    def test_a_model_goes_through_a_file_and_through_pickle(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "squares ü.sdm")
            self.model.save(path)
            again = sdm.load(path)
        for copy in (again, pickle.loads(pickle.dumps(self.model))):
            self.assertEqual(copy.to_bytes(), self.model.to_bytes())
            np.testing.assert_array_equal(
                copy.align(self.pictures[50], self.boxes[50]).points,
                self.model.align(self.pictures[50], self.boxes[50]).points,
            )

    def test_an_adapter_learns_labels_that_lie_elsewhere(self):
        state = sdm.adaptation(self.model, self.pictures[:40], self.points[:40])
        adapter = sdm.Adapter(self.model, state)
        picture, box, moved = self.pictures[45], self.boxes[45], self.points[45] + [1.5, 0]
        before = np.abs(self.model.align(picture, box).points - moved).mean()
        for _ in range(10):
            adapter.update(picture, moved, weight=1000)
        after = np.abs(adapter.model.align(picture, box).points - moved).mean()
        self.assertLess(after, 0.7 * before)
        self.assertEqual(adapter.state.kind, "face-adaptation")

    def test_what_was_learned_is_the_same_for_the_same_seed(self):
        again = sdm.train(
            self.pictures[:40], self.points[:40], self.boxes[:40], budget=2, threads=2, progress=False, name="squares"
        )
        self.assertEqual(again.to_bytes(), self.model.to_bytes())

    def test_training_tells_how_far_it_is(self):
        told = []
        sdm.train(self.pictures[:20], self.points[:20], budget=1, progress=lambda *at: told.append(at))
        self.assertTrue(told)
        self.assertTrue(all(0 <= share <= 1 for _, share, _ in told))

    def test_wrong_labels_are_refused_in_a_sentence(self):
        with self.assertRaisesRegex(sdm.Error, r"points has the shape \(3, 4, 2\)"):
            sdm.train(self.pictures[:5], self.points[:3])
        with self.assertRaisesRegex(sdm.Error, "picture 1"):
            sdm.train([self.pictures[0], np.zeros((0, 4), np.uint8)], self.points[:2])
        with self.assertRaisesRegex(sdm.Error, "preset|sensible"):
            sdm.train(self.pictures[:20], self.points[:20], preset="sensible")


class RealFaces(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not os.path.isdir(os.path.join(DATA, "photos")):
            raise unittest.SkipTest("no photographs: ../shared is not there")
        try:
            from PIL import Image
        except ImportError:
            raise unittest.SkipTest("Pillow is not installed")
        found = []
        for folder, _, names in sorted(os.walk(os.path.join(DATA, "photos"))):
            found += [os.path.join(folder, n) for n in sorted(names) if n.lower().endswith((".jpg", ".png"))]
        if not found:
            raise unittest.SkipTest("no photographs in ../shared")
        cls.path = found[0]
        cls.rgb = np.asarray(Image.open(cls.path).convert("RGB"))

    def test_a_photograph_has_a_face_whichever_way_it_is_given(self):
        from PIL import Image

        faces = sdm.detect(self.rgb)
        self.assertTrue(faces)
        self.assertEqual(faces[0].points.shape, (68, 2))
        self.assertTrue(faces[0].score > 0.5 and faces[0].pose is not None and faces[0].visible is not None)
        ways = {
            "bgr": sdm.detect(np.ascontiguousarray(self.rgb[:, :, ::-1]), format="bgr"),
            "bgr, a view": sdm.detect(self.rgb[:, :, ::-1], format="bgr"),
            "rgba": sdm.detect(np.dstack([self.rgb, np.full(self.rgb.shape[:2], 9, np.uint8)])),
            "PIL": sdm.detect(Image.fromarray(self.rgb)),
        }
        for way, others in ways.items():
            self.assertEqual(len(others), len(faces), way)
            np.testing.assert_array_equal(others[0].points, faces[0].points, way)
        self.assertEqual(len(sdm.detect(self.path)), len(faces))

    def test_a_picture_that_moves_is_tracked_along(self):
        frames = [np.roll(self.rgb, 2 * i, axis=1) for i in range(5)]
        tracked = list(sdm.Tracker(smooth=False).video(frames))
        self.assertEqual([len(frame) for frame in tracked], [1] * 5)
        self.assertEqual(len({frame.faces[0].id for frame in tracked}), 1)
        moved = tracked[4].faces[0].points - tracked[0].faces[0].points
        self.assertLess(np.abs(np.median(moved, axis=0) - (8, 0)).max(), 1)

    def test_drawing_marks_the_points(self):
        faces = sdm.detect(self.rgb)
        drawn = sdm.draw(self.rgb, faces)
        x, y = np.round(faces[0].points[30]).astype(int)
        self.assertEqual(tuple(drawn[y, x]), (60, 255, 60))
        self.assertEqual(drawn._repr_png_()[:4], b"\x89PNG")
        self.assertIn("<svg", faces[0]._repr_html_())


if __name__ == "__main__":
    unittest.main()
