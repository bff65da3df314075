"""Forces at a whole step move walls and box in the next one: a phase at its beginning.

All threads sum the forces; the first one gives the present poses their new velocities, and writes those of the next
two half steps.
"""
from libc.string cimport memcpy, memset

from minidem.broadphase.broadphase cimport FAILED, wait
from minidem.contact.contacts cimport WALL_POWER
from minidem.contact.fixed_point cimport Wide
from minidem.loop.loop cimport Course, reduce
from minidem.steering.box cimport MovingBox, advance_box, expect_kick
from minidem.steering.box_sums cimport WORK_AHEAD
from minidem.steering.pressure cimport accelerate_box, sum_stress, virial_of, work_of_images
from minidem.steering.servo cimport SERVO_SUMS, add_carried, advance_servos, work_of_servos
from minidem.steering.work cimport held_work


cdef void sum_forces(const Loop *loop, int thread, const Moving *own) noexcept nogil:
    """Sum over own contacts and clumps what moves walls and axes of the box."""
    cdef Wide *sums = own.sums + thread * own.n_sums
    memset(sums, 0, own.n_sums * sizeof(Wide))
    if own.servos.n > 0:
        memcpy(sums, own.wall_sums[thread].loads, own.servos.n * <int> SERVO_SUMS * sizeof(Wide))
        add_carried(loop, thread, &own.servos, sums)
    if own.box.presses:
        sum_stress(loop, thread, own.box_sums + thread, sums + <int> SERVO_SUMS * own.servos.n)


cdef void join_sums(const Loop *loop, const Moving *own) noexcept nogil:
    """Add the sums of all threads to the sums of the first one."""
    cdef int k, m
    for k in range(own.n_sums):
        for m in range(1, loop.n_threads):
            own.sums[k] += own.sums[m * own.n_sums + k]


cdef bint advance(Loop *loop, Moving *own, long long n) noexcept nogil:
    """New speeds of what forces move, and its poses in step n of the course. False: the box will not be sound."""
    cdef const Course *course = loop.course
    cdef MovingBox *box = &own.box
    cdef const Wide *of_box = own.sums + <int> SERVO_SUMS * own.servos.n
    cdef double virial[6]
    cdef bint fine
    cdef int t
    join_sums(loop, own)
    if own.servos.n > 0:
        advance_servos(loop, &own.servos, own.sums, n)
        own.wall_sums[0].steered = work_of_servos(loop, &own.servos, own.sums, n)
    if not box.presses:
        return True
    virial_of(loop, of_box, virial)
    accelerate_box(&box.spec, box.states + n, virial, course.first + n == box.spec.first, box.rates + 4 * n)
    fine = advance_box(&box.spec, box.rates + 4 * n, box.states + n, course.box_poses + 2 * n, course.first + n)
    expect_kick(&box.spec, box.rates + 4 * (n + 1), box.states + n, box.states + n + 1, course.box_poses + 2 * n + 4,
                course.first + n + 1)
    for t in range(loop.n_threads):
        own.box_sums[t].totals[<int> WORK_AHEAD] = 0
    own.box_sums[0].totals[<int> WORK_AHEAD] = work_of_images(loop, of_box, course.box_poses + 2 * n)
    return fine


cdef bint steer(Loop *loop, int thread, Instant *now, void *own) noexcept nogil:
    """Phase: let the forces at the last whole step move walls and box in this one. False: the box will not be sound."""
    cdef Moving *moving = <Moving *> own
    cdef Wide work
    cdef bint fine = True
    if now.stage > 0:
        return True
    sum_forces(loop, thread, moving)
    wait(&loop.broad, thread, 0)
    if thread == 0:
        fine = advance(loop, moving, now.step - 1 - loop.course.first)
    if wait(&loop.broad, thread, 0 if fine else <int> FAILED):
        if not now.wrench_stored:
            reduce(loop, thread, now, NULL)
        return False
    work = held_work(loop, thread)
    if moving.wall_sums != NULL:
        work += moving.wall_sums[thread].given + moving.wall_sums[thread].steered
    if moving.box_sums != NULL:
        work += moving.box_sums[thread].totals[<int> WORK_AHEAD]
    loop.contacts[thread].ledger.energies[<int> WALL_POWER] = work
    return True
