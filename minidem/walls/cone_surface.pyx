"""Distance of a point from a cone between two circles (cone.py), in a half plane that the axis bounds."""
from libc.math cimport sqrt

from minidem.core.vec3 cimport Vec3, add_scaled, cross, dot, norm, scale, sub
from minidem.walls.surface cimport Shape, Touch, vector

cdef extern from *:
    """
    #define MINIDEM_NEAR_AXIS 0.01      /* distance from the axis / height, below which the curvature grows no more */
    """
    const double NEAR_AXIS "MINIDEM_NEAR_AXIS"

cdef struct Outline:                    # of a cone in the half plane: a line between two circles
    double radii[2]                     # of the circles [m]
    double slope[2]                     # unit: radial and axial, from the first circle to the second
    double length                       # [m]

cdef struct ConeNumbers:                # the numbers of a Shape
    Outline outline
    double across[3]                    # unit, towards the nearer side for points on the axis
    double side                         # 1: the nearer side, -1: that beyond the axis

cdef struct Foot:                       # the point of the outline nearest to another one
    double height                       # distance of the two [m]
    double radial, axial                # unit, from the foot to the point
    double bend                         # curvature, in the half plane, of the line of equal height [1/m]
    double around                       # curvature, across it, of the surface of equal height [1/m]
    bint on_axis                        # at an apex


cdef inline Foot foot_on(const Outline *outline, double across, double along) noexcept nogil:
    """across : distance of the point from the axis, negative beyond it;  along : from the first circle [m]."""
    cdef double x = across - outline.radii[0], part = x * outline.slope[0] + along * outline.slope[1], sign = 1.0, away
    cdef int end = part > 0.0
    cdef Foot foot
    foot.radial, foot.axial, foot.bend, foot.on_axis = outline.slope[1], -outline.slope[0], 0.0, False
    if 0.0 <= part <= outline.length:
        foot.height = x * foot.radial + along * foot.axial
        sign = 1.0 if foot.height >= 0.0 else -1.0
        foot.height, foot.radial, foot.axial = sign * foot.height, sign * foot.radial, sign * foot.axial
    else:
        foot.on_axis = outline.radii[end] == 0.0
        x, along = across - outline.radii[end], along - end * outline.length * outline.slope[1]
        foot.height = sqrt(x * x + along * along)
        if foot.height > 0.0:
            foot.bend = 1.0 / foot.height
            foot.radial, foot.axial = foot.bend * x, foot.bend * along
    away = max(abs(across), NEAR_AXIS * foot.height)
    foot.around = foot.radial / (away if across >= 0.0 else -away) if away > 0.0 else 0.0
    return foot


cdef bint touch_cone(const Shape *shape, Vec3 d, Touch *touch) noexcept nogil:
    """A `TouchFunction`. An apex counts for the nearer side only."""
    cdef const ConeNumbers *cone = <const ConeNumbers *> shape.numbers
    cdef Vec3 axis = vector(shape.axis), out
    cdef double along = dot(d, axis), distance
    cdef Foot foot
    out = sub(d, scale(along, axis))
    distance = norm(out)
    out = scale(cone.side / distance, out) if distance > 0.0 else scale(cone.side, vector(cone.across))
    foot = foot_on(&cone.outline, cone.side * distance, along)
    touch.height, touch.normal = foot.height, add_scaled(scale(foot.radial, out), foot.axial, axis)
    if foot.bend > 0.0 and foot.bend >= foot.around:                # an edge seen from outside its circle, or the apex
        touch.curvature, touch.straight = foot.bend, scale(sqrt(1.0 - foot.around / foot.bend), cross(axis, out))
    else:
        touch.curvature = foot.around
        touch.straight = add_scaled(scale(foot.axial, out), -foot.radial, axis)
        if foot.bend > 0.0:
            touch.straight = scale(sqrt(1.0 - foot.bend / foot.around), touch.straight)
    return not (foot.on_axis and cone.side < 0.0)


TOUCH = <size_t> touch_cone
