"""What one core can do: bytes per second from each level of the memory, and operations per second.

    core.py         writes JSON to standard output

Bytes: NumPy's a += b over two arrays of doubles that together fill half a cache, or eight times the largest
one; the first cache holds so little that a call of NumPy takes longer than the sum. 24 bytes per element: a
is read and written, b is read. Because a is read before it is written, no cache line moves that is not
counted; a = b + c would move 32 bytes per element for 24 that are named.
Operations: a product of two matrices of 256 x 256 by NumPy's BLAS, 2 * 256^3. With an optimised BLAS that is
near the peak, with fused multiply-add. minidem is compiled without, since its bits shall not depend on the
processor: where additions have units of their own (AMD's Zen) the same can be reached, elsewhere half of it.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

CACHES = Path("/sys/devices/system/cpu/cpu0/cache")
USUAL = {"L1": 2 ** 15, "L2": 2 ** 20, "L3": 2 ** 25}
MATRIX = 256
SECONDS = 0.4           # of calls for a rate
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS",
                            "VECLIB_MAXIMUM_THREADS"), "1")


def cache_sizes():
    """Bytes of "L1" (data), "L2", "L3" as far as the system tells; those of a usual processor otherwise."""
    sizes = {}
    for folder in CACHES.glob("index*"):
        level, kind, size = ((folder / name).read_text().strip() for name in ("level", "type", "size"))
        if kind != "Instruction" and size.endswith("K"):
            sizes[f"L{level}"] = 1024 * int(size[:-1])
    return dict(sorted(sizes.items())) or USUAL


def rate(action, amount):
    """Amount per second in the fastest of many calls: what others do on the machine only makes it less."""
    action()
    begin, best = time.perf_counter(), 0.0
    while time.perf_counter() < begin + SECONDS:
        called = time.perf_counter()
        action()
        best = max(best, amount / (time.perf_counter() - called))
    return best


def bandwidth(total):
    """Bytes per second of a += b over two arrays that are `total` bytes together."""
    import numpy as np
    a, b = np.zeros(total // 16), np.ones(total // 16)
    return rate(lambda: np.add(a, b, out=a), 24 * len(a))


def operations():
    """Floating-point operations per second of a matrix product."""
    import numpy as np
    a = np.random.default_rng(1).standard_normal((MATRIX, MATRIX))
    product = np.empty_like(a)
    return rate(lambda: np.matmul(a, a, out=product), 2 * MATRIX ** 3)


def measure():
    """{"caches": {level: bytes}, "bytes_per_second": {level or "memory": ...}, "operations_per_second": ...},
    in a process of its own, because BLAS asks for its number of threads only once."""
    done = subprocess.run([sys.executable, __file__], env={**os.environ, **ONE_THREAD}, text=True,
                          capture_output=True, check=True)
    return json.loads(done.stdout)


if __name__ == "__main__":
    caches = cache_sizes()
    totals = {level: size // 2 for level, size in caches.items() if level != "L1"}
    totals["memory"] = 8 * max(caches.values())
    rates = {name: bandwidth(total) for name, total in totals.items()}
    print(json.dumps({"caches": caches, "bytes_per_second": rates, "operations_per_second": operations()}))
