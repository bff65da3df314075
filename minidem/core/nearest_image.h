/* The nearest image of a difference of coordinates, for numbers and vectors of them. */
#ifndef MINIDEM_NEAREST_IMAGE_H
#define MINIDEM_NEAREST_IMAGE_H

/* To the nearest integer, half to even, below 2^51; odd, so that exchanging two spheres changes signs only. */
#define MINIDEM_ROUNDED(x) ((x) + 6755399441055744.0 - 6755399441055744.0)

/* A difference d along an axis, less whole lengths of the box; inverse: 1 / length, 0 along open axes. */
#define MINIDEM_NEAREST(d, length, inverse) ((d) - (length) * MINIDEM_ROUNDED((d) * (inverse)))

/* The first step towards the nearest image in a box that may be tilted: take whole lengths along its gradient axis g
 * off the component d_g of a difference, with the displacement of its image along the flow axis f off d_f.
 * box: BoxPose of state/box_pose.h. */
#define MINIDEM_UNTILT(d_f, d_g, box, g, f) do { \
        __typeof__(d_f) lengths_ = MINIDEM_ROUNDED((d_g) * (box)->across[g]); \
        (d_g) = (d_g) - (box)->lattice[g] * lengths_; \
        (d_f) = (d_f) - (box)->lattice[f] * lengths_; \
    } while (0)

/* A difference (x, y, z) becomes that to the nearest image. tilt: 0, or 1 + 3 flow axis + gradient axis of a box that
 * moves; a constant, so that loops are compiled for each. */
#define MINIDEM_TO_NEAREST(x, y, z, box, tilt) do { \
        if ((tilt) == 2) MINIDEM_UNTILT(x, y, box, 1, 0); \
        if ((tilt) == 3) MINIDEM_UNTILT(x, z, box, 2, 0); \
        if ((tilt) == 4) MINIDEM_UNTILT(y, x, box, 0, 1); \
        if ((tilt) == 6) MINIDEM_UNTILT(y, z, box, 2, 1); \
        if ((tilt) == 7) MINIDEM_UNTILT(z, x, box, 0, 2); \
        if ((tilt) == 8) MINIDEM_UNTILT(z, y, box, 1, 2); \
        if ((tilt) != 4 && (tilt) != 7) (x) = MINIDEM_NEAREST(x, (box)->length[0], (box)->inverse[0]); \
        if ((tilt) != 2 && (tilt) != 8) (y) = MINIDEM_NEAREST(y, (box)->length[1], (box)->inverse[1]); \
        if ((tilt) != 3 && (tilt) != 6) (z) = MINIDEM_NEAREST(z, (box)->length[2], (box)->inverse[2]); \
    } while (0)
#endif
