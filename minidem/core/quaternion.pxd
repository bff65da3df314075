"""Quaternions (w, x, y, z), Hamilton product, body -> lab: v_lab = q v_body q*.

`rotate`, `rotate_back` and `matrix` are the only changes of frame in the code; `exponential` is the only
transcendental function in a time step. It uses + - * / sqrt alone, so that its bits do not
depend on the instruction set or on the C library.
"""
from libc.math cimport sqrt

from minidem.core.vec3 cimport Vec3, dot, vec3

cdef struct Quat:
    double w
    double x
    double y
    double z


cdef struct Matrix:             # its rows
    Vec3 x
    Vec3 y
    Vec3 z


cdef inline Quat quat(double w, double x, double y, double z) noexcept nogil:
    cdef Quat q
    q.w = w
    q.x = x
    q.y = y
    q.z = z
    return q


cdef inline Quat multiply(Quat a, Quat b) noexcept nogil:
    return quat(a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z,
                a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
                a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
                a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w)


cdef inline Quat multiply_vector(Quat a, Vec3 v) noexcept nogil:
    """a (0, v)"""
    return quat(-a.x * v.x - a.y * v.y - a.z * v.z,
                a.w * v.x + a.y * v.z - a.z * v.y,
                a.w * v.y - a.x * v.z + a.z * v.x,
                a.w * v.z + a.x * v.y - a.y * v.x)


cdef inline Quat conjugate(Quat a) noexcept nogil:
    return quat(a.w, -a.x, -a.y, -a.z)


cdef inline Quat add_scaled_quat(Quat a, double s, Quat b) noexcept nogil:
    """a + s b"""
    return quat(a.w + s * b.w, a.x + s * b.x, a.y + s * b.y, a.z + s * b.z)


cdef inline Quat scale_quat(double s, Quat a) noexcept nogil:
    return quat(s * a.w, s * a.x, s * a.y, s * a.z)


cdef inline double norm_squared(Quat a) noexcept nogil:
    return a.w * a.w + a.x * a.x + a.y * a.y + a.z * a.z


cdef inline Quat normalise(Quat a) noexcept nogil:
    return scale_quat(1.0 / sqrt(norm_squared(a)), a)


cdef inline Vec3 rotate(Quat q, Vec3 v) noexcept nogil:
    """q v q* for a unit q, body -> lab:  v + 2 u x (u x v + w v), u the vector part."""
    cdef double a = q.y * v.z - q.z * v.y + q.w * v.x
    cdef double b = q.z * v.x - q.x * v.z + q.w * v.y
    cdef double c = q.x * v.y - q.y * v.x + q.w * v.z
    return vec3(v.x + 2.0 * (q.y * c - q.z * b),
                v.y + 2.0 * (q.z * a - q.x * c),
                v.z + 2.0 * (q.x * b - q.y * a))


cdef inline Vec3 rotate_back(Quat q, Vec3 v) noexcept nogil:
    """q* v q for a unit q, lab -> body."""
    return rotate(conjugate(q), v)


cdef inline Matrix matrix(Quat q) noexcept nogil:
    """Of the same rotation, body -> lab: for more than one vector, half the work of `rotate`."""
    cdef Matrix m
    m.x = vec3(1.0 - 2.0 * (q.y * q.y + q.z * q.z), 2.0 * (q.x * q.y - q.w * q.z), 2.0 * (q.x * q.z + q.w * q.y))
    m.y = vec3(2.0 * (q.x * q.y + q.w * q.z), 1.0 - 2.0 * (q.x * q.x + q.z * q.z), 2.0 * (q.y * q.z - q.w * q.x))
    m.z = vec3(2.0 * (q.x * q.z - q.w * q.y), 2.0 * (q.y * q.z + q.w * q.x), 1.0 - 2.0 * (q.x * q.x + q.y * q.y))
    return m


cdef inline Vec3 turn_vector(Matrix m, Vec3 v) noexcept nogil:
    """Body -> lab."""
    return vec3(dot(m.x, v), dot(m.y, v), dot(m.z, v))


cdef inline double cosine_series(double t) noexcept nogil:
    """cos of the square root of t, 0 <= t < (pi/4)^2; first omitted term below 3e-18. Estrin's order: short chains."""
    cdef double t2 = t * t
    cdef double t4 = t2 * t2
    return ((1.0 - 1.0 / 2.0 * t) + (1.0 / 24.0 - 1.0 / 720.0 * t) * t2) \
        + t4 * (((1.0 / 40320.0 - 1.0 / 3628800.0 * t) + (1.0 / 479001600.0 - 1.0 / 87178291200.0 * t) * t2)
                + t4 * (1.0 / 20922789888000.0))


cdef inline double sinc_series(double t) noexcept nogil:
    """sin(a) / a, a the square root of t, as for cosine_series."""
    cdef double t2 = t * t
    cdef double t4 = t2 * t2
    return ((1.0 - 1.0 / 6.0 * t) + (1.0 / 120.0 - 1.0 / 5040.0 * t) * t2) \
        + t4 * (((1.0 / 362880.0 - 1.0 / 39916800.0 * t) + (1.0 / 6227020800.0 - 1.0 / 1307674368000.0 * t) * t2)
                + t4 * (1.0 / 355687428096000.0))


cdef inline double small_cosine(double t) noexcept nogil:
    """cosine_series for a small t: first omitted term below 2e-18."""
    return (1.0 - 1.0 / 2.0 * t) + (1.0 / 24.0 - 1.0 / 720.0 * t) * (t * t)


cdef inline double small_sinc(double t) noexcept nogil:
    return (1.0 - 1.0 / 6.0 * t) + (1.0 / 120.0 - 1.0 / 5040.0 * t) * (t * t)


cdef inline bint is_small(double t) noexcept nogil:
    """Are four terms of a series enough? Not if t is not a number."""
    return t < 1.0 / 2048.0


cdef inline bint turns_little(Vec3 h) noexcept nogil:
    """Is a half-angle vector shorter than 0.022: a turn by less than 2.5 degrees?"""
    return is_small(h.x * h.x + h.y * h.y + h.z * h.z)


cdef inline Quat little_exponential(Vec3 h) noexcept nogil:
    """`exponential` for vectors that turn little: the same bits for a third of the work."""
    cdef double s = h.x * h.x + h.y * h.y + h.z * h.z
    cdef double ratio = small_sinc(s)
    return quat(small_cosine(s), ratio * h.x, ratio * h.y, ratio * h.z)


cdef inline Quat exponential(Vec3 h) noexcept nogil:
    """(cos|h|, h sin|h| / |h|) for a half-angle vector h of any length, zero included.

    Branch-free, so that a loop over bodies vectorises. |h| = k pi/2 + r with |r| <= pi/4
    (pi/2 in three parts, Cody & Waite 1980); series in r^2, short ones where they do; the quadrant k mod 4 picks
    sine or cosine and the signs. Rounding to a whole number is done by adding and subtracting 1.5 * 2^52.
    """
    cdef double big = 6755399441055744.0
    cdef double s = h.x * h.x + h.y * h.y + h.z * h.z
    cdef double angle = sqrt(s)
    cdef double k = (angle * 0.63661977236758134308 + big) - big
    cdef double r = ((angle - k * 1.57079632673412561417) - k * 6.07710050630396597660e-11) \
        - k * 2.02226624879595063154e-21
    cdef double t = s if k == 0.0 else r * r
    cdef double cosine = small_cosine(t) if is_small(t) else cosine_series(t)
    cdef double sinc = small_sinc(t) if is_small(t) else sinc_series(t)
    cdef double sine = r * sinc
    cdef double quarter = k - 4.0 * ((k * 0.25 + big) - big)       # -2, -1, 0, 1, 2
    cdef double odd = quarter * quarter                             # 0, 1 or 4
    cdef double c = sine if odd == 1.0 else cosine
    cdef double d = cosine if odd == 1.0 else sine
    cdef double sign_c = -1.0 if (quarter == 1.0 or odd == 4.0) else 1.0
    cdef double sign_d = -1.0 if (quarter == -1.0 or odd == 4.0) else 1.0
    cdef double ratio = sinc if k == 0.0 else sign_d * d / angle
    return quat(sign_c * c, ratio * h.x, ratio * h.y, ratio * h.z)
