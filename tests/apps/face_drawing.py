"""A drawn face with the 68 points of iBUG's markup, for tests that must not need data."""
import math

SIDE = 200


def arc(x0, x1, y, rise, count):
    """Points from left to right on a parabola that is `rise` higher in the middle."""
    return [(x0 + (x1 - x0) * i / (count - 1), y - rise * (1 - (2 * i / (count - 1) - 1) ** 2)) for i in range(count)]


def eye(cx, cy):
    return [(cx - 13, cy), (cx - 5, cy - 6), (cx + 5, cy - 6), (cx + 13, cy), (cx + 5, cy + 5), (cx - 5, cy + 5)]


def points_at(cx, cy):
    """In the picture's left first, as the markup has it."""
    jaw = [(cx - 62 * math.cos(math.pi * i / 16), cy + 5 + 75 * math.sin(math.pi * i / 16)) for i in range(17)]
    mouth = [(-24, 0), (-14, -6), (-5, -9), (0, -7), (5, -9), (14, -6), (24, 0), (14, 8), (6, 11), (0, 12), (-6, 11),
             (-14, 8), (-20, 0), (-6, -2), (0, -1), (6, -2), (20, 0), (6, 3), (0, 4), (-6, 3)]
    return (jaw + arc(cx - 50, cx - 14, cy - 32, 7, 5) + arc(cx + 14, cx + 50, cy - 32, 7, 5)
            + [(cx, cy - 15 + 10 * i) for i in range(4)]
            + [(cx - 12 + 6 * i, cy + 22 + 3 * (1 - abs(i - 2) / 2)) for i in range(5)]
            + eye(cx - 32, cy - 14) + eye(cx + 32, cy - 14) + [(cx + x, cy + 47 + y) for x, y in mouth])


def draw_face(rng, shift=0):
    """Width, pixels and points: a light oval with dark strokes along brows, eyes, nose and lips."""
    points = points_at(100 + shift, 95)
    pixels = bytearray(60 + b // 32 for b in rng.randbytes(SIDE * SIDE))
    for v in range(SIDE):
        for u in range(SIDE):
            if math.hypot((u - 100 - shift) / 62, (v - 85) / 85) < 1:
                pixels[v * SIDE + u] += 110
    for x, y in points[17:]:
        for v in range(int(y) - 4, int(y) + 5):
            for u in range(int(x) - 4, int(x) + 5):
                dark = 70 * math.exp(-((u - x) ** 2 + (v - y) ** 2) / 6)
                pixels[v * SIDE + u] = max(0, int(pixels[v * SIDE + u] - dark))
    return SIDE, bytes(pixels), points
