"""Pictures of five marks with known places, for tests of the commands that need no data."""
import math

from tool import write_pgm

SIZE = 120
MEAN = [(-20, -18), (20, -18), (0, 2), (-15, 22), (15, 22)]  # pixels from the centre


def placed(cx, cy, scale=1.0, angle=0.0, shape=MEAN):
    c, s = scale * math.cos(angle), scale * math.sin(angle)
    return [(cx + c * x - s * y, cy + s * x + c * y) for x, y in shape]


def picture(rng, points):
    """Noise with a mark at each point."""
    pixels = bytearray(100 + b // 16 for b in rng.randbytes(SIZE * SIZE))
    for k, (px, py) in enumerate(points):
        wide, high = 5 + 2 * (k % 2), 3 + 2 * (k // 3)
        for v in range(max(0, int(py) - 12), min(SIZE, int(py) + 12)):
            for u in range(max(0, int(px) - 12), min(SIZE, int(px) + 12)):
                far = math.hypot((u - px) / wide, (v - py) / high)
                pixels[v * SIZE + u] = int(pixels[v * SIZE + u] + 120 * math.exp(-far**2))
    return bytes(pixels)


def make_set(folder, name, count, rng):
    """NAME/*.pgm with the true points in NAME.csv and a detector's boxes in NAME_boxes.csv."""
    (folder / name).mkdir()
    truth = ["file," + ",".join(f"x{i},y{i}" for i in range(5))]
    boxes = ["file,haar_alt2_x,haar_alt2_y,haar_alt2_w,haar_alt2_h"]
    for i in range(count):
        scale, cx, cy = rng.uniform(0.8, 1.2), rng.uniform(52, 68), rng.uniform(52, 68)
        shape = [(x + rng.gauss(0, 1.5), y + rng.gauss(0, 1.5)) for x, y in MEAN]
        points = placed(cx, cy, scale, rng.gauss(0, 0.12), shape)
        side = 90 * scale * math.exp(rng.gauss(0, 0.06))
        box = (cx + rng.gauss(0, 2) - side / 2, cy + rng.gauss(0, 2) - side / 2, side, side)
        file = f"{name}/{name}{i:03}.pgm"
        write_pgm(folder / file, picture(rng, points), SIZE)
        truth.append(file + "," + ",".join(f"{x:.3f},{y:.3f}" for x, y in points))
        boxes.append(file + "," + ",".join(f"{v:.2f}" for v in box))
    boxes[-1] = file + ",,,,"  # nothing was found in the last one
    (folder / f"{name}.csv").write_text("\n".join(truth) + "\n")
    (folder / f"{name}_boxes.csv").write_text("\n".join(boxes) + "\n")
