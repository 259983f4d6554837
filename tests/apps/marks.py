"""Pictures of five marks with known places, for tests of the commands that need no data."""
import math

SIZE = 120
MEAN = [(-20, -18), (20, -18), (0, 2), (-15, 22), (15, 22)]  # pixels from the centre


def picture(rng):
    """A noisy picture with a mark at each of five points: bytes, points, box."""
    pixels = bytearray(100 + b // 16 for b in rng.randbytes(SIZE * SIZE))
    scale, angle = rng.uniform(0.8, 1.2), rng.gauss(0, 0.12)
    cx, cy = rng.uniform(52, 68), rng.uniform(52, 68)
    points = []
    for k, (x, y) in enumerate(MEAN):
        x, y = x + rng.gauss(0, 1.5), y + rng.gauss(0, 1.5)
        px = cx + scale * (math.cos(angle) * x - math.sin(angle) * y)
        py = cy + scale * (math.sin(angle) * x + math.cos(angle) * y)
        points.append((px, py))
        wide, high = (5 + 2 * (k % 2), 3 + 2 * (k // 3))
        for v in range(max(0, int(py) - 12), min(SIZE, int(py) + 12)):
            for u in range(max(0, int(px) - 12), min(SIZE, int(px) + 12)):
                distance = math.hypot((u - px) / wide, (v - py) / high)
                pixels[v * SIZE + u] = int(pixels[v * SIZE + u] + 120 * math.exp(-distance**2))
    side = 90 * scale * math.exp(rng.gauss(0, 0.06))
    box = (cx + rng.gauss(0, 2) - side / 2, cy + rng.gauss(0, 2) - side / 2, side, side)
    return bytes(pixels), points, box


def make_set(folder, name, count, rng):
    (folder / name).mkdir()
    truth = ["file," + ",".join(f"x{i},y{i}" for i in range(5))]
    boxes = ["file,haar_alt2_x,haar_alt2_y,haar_alt2_w,haar_alt2_h"]
    for i in range(count):
        pixels, points, box = picture(rng)
        file = f"{name}/{name}{i:03}.pgm"
        (folder / file).write_bytes(b"P5 %d %d 255\n" % (SIZE, SIZE) + pixels)
        truth.append(file + "," + ",".join(f"{x:.3f},{y:.3f}" for x, y in points))
        boxes.append(file + "," + ",".join(f"{v:.2f}" for v in box))
    boxes[-1] = file + ",,,,"  # nothing was found in the last one
    (folder / f"{name}.csv").write_text("\n".join(truth) + "\n")
    (folder / f"{name}_boxes.csv").write_text("\n".join(boxes) + "\n")
