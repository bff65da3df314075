"""What a step with SPIRAL asks of the processor: bytes and floating-point operations, counted from the code.

Bytes are those of cache lines that a phase takes in and those it changes and gives back, each once: a record
that is written counts twice. Tables that serve all clumps (offsets, reaches, walls), flags of a byte and
what a vector register spills are not counted. Operations are + - * / and square roots, as the
formulas are written; comparisons are not counted. Sums over lanes that stay empty are left out.

A block of eight clumps is 14 rows of 64 bytes here (rows.pxd): orientation 4, angular velocity 3, position 3,
velocity 3, path 1. Its loads are summed, used and forgotten in registers and the nearest cache.

blocks      in and out: all 14 rows.
            A row of eight posed spheres: 8 times 32 bytes in and out; its number in the list of active
            rows and its kind, 4 each. A sphere in a contact: its sum, 32 in; in its row eight places of 4
            in and out.
            Operations per clump: SPIRAL 66 (12 for what the torque does not change, three times Euler's
            equations 9, 27 to combine), exponential of a small turn 24 and product 28; kick 9, drift 14 and 43
            for the path; matrix 39, and once more in a block that bears a force. Per posed sphere 18; per
            sphere of a row that bears a force 30 (turn 15, cross 9, sums 6).
contacts    per candidate of the inner list 8 bytes and 11 operations; per active sphere 32 bytes, read;
            per contact its pair, 8 in and out, and 25 operations; per sphere in it the sum, 32 in
            and out, its place, 4 in and out, and 4 operations.
lists       an inner list: displacements, 8 rows in, 7 kept ones in, 1 out; per sphere 32 in to compare; per outer
            pair 8 in, per inner pair 8 in and out and 8 in, and in a large system 8 in, 8 in and 8 out to sort them.
            Operations: per clump 59, per outer pair 11.
            Where some spheres are in no list all are posed again: per sphere 32 in and out; operations 39
            per clump and 18 per sphere.
            An outer list in addition: kept poses, 7 rows in, 7 in and out; per item of the grids its record
            twice in, its cell 4 in and out and in, its place, 20, in and out and in; per outer pair 8 in and
            out. Operations: 16 per item (four lengths scaled and rounded, twice), and 10 per item looked
            at. Of those there are 13.5 / (2 pi / 3) = 6.4 for each pair that is found: half the 27 cells
            around, as wide as the pair's distance, against half of that sphere.

Contacts are spread over spheres at random for this purpose: a set of m has none with the
probability (1 - share)^m, share being the mean number of contacts of a sphere, at most 1.
"""

import math

from minidem.engine.loop_owner import SLOTS_IN_CACHE

ROW = 64                            # bytes
LOOKED_AT = 13.5 / (2.0 * math.pi / 3.0)
SPHERES_PER_ITEM = 8                # from so many per clump on, the grids hold clumps (broadphase.pyx)


def demands(row):
    """{phase: (bytes, operations) per step} of a row of the file, for a run with SPIRAL on one thread."""
    lists, clumps, spheres, contacts = row["lists"], row["clumps"], row["spheres"], row["contacts"]
    blocks, posed = math.ceil(clumps / 8), lists["active_slots"]
    touching = min(spheres, 2 * contacts)
    free = 1.0 - touching / spheres
    bearing_spheres = spheres * (1.0 - free ** 8)
    bearing_clumps = clumps * (1.0 - free ** (8 * spheres / clumps))
    items = clumps if spheres >= SPHERES_PER_ITEM * clumps else spheres
    inner, outer = lists["inner_pairs"], lists["outer_pairs"]

    move = (2 * 14 * ROW * blocks + (64 + 1) * posed + 32 * touching + 8 * bearing_spheres,
            (66 + 24 + 28 + 9 + 14 + 43 + 39) * clumps + 39 * bearing_clumps + 18 * posed + 30 * bearing_spheres)
    touch = (8 * inner + 32 * posed + 16 * contacts + (64 + 8) * touching,
             11 * inner + 25 * contacts + 4 * touching)
    again = posed < spheres
    per_inner = 16 + 8 + 24 * (spheres > SLOTS_IN_CACHE)
    inner_list = ((8 + 7 + 1) * ROW * blocks + (32 + 64 * again) * spheres + 8 * outer + per_inner * inner,
                  (59 + 39 * again) * clumps + 18 * again * spheres + 11 * outer)
    outer_list = ((7 + 14) * ROW * blocks + (64 + 12 + 60) * items + 16 * outer,
                  16 * items + 10 * LOOKED_AT * outer)
    renewals = lists["inner_renewals_per_step"], lists["outer_renewals_per_step"]
    renew = tuple(renewals[0] * a + renewals[1] * b for a, b in zip(inner_list, outer_list))
    return {"blocks": move, "lists": renew, "contacts": touch}


def working_set(row):
    """Bytes that come round in every step: blocks, sphere records, inner list, contacts and their sums, twice."""
    touching = min(row["spheres"], 2 * row["contacts"])
    return (14 * ROW * math.ceil(row["clumps"] / 8) + 32 * row["lists"]["active_slots"]
            + 8 * row["lists"]["inner_pairs"] + 8 * row["contacts"] + 64 * touching)
