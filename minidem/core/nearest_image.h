/* The nearest image of a difference of coordinates, for numbers and vectors of them. */
#ifndef MINIDEM_NEAREST_IMAGE_H
#define MINIDEM_NEAREST_IMAGE_H

/* To the nearest integer, half to even, below 2^51; odd, so that exchanging two spheres changes signs only. */
#define MINIDEM_ROUNDED(x) ((x) + 6755399441055744.0 - 6755399441055744.0)

/* A difference d along an axis, less whole lengths of the box. box: see state/periodic_box.pxd. */
#define MINIDEM_NEAREST(d, box, axis) ((d) - (box)[axis] * MINIDEM_ROUNDED((d) * (box)[(axis) + 3]))

/* A difference (x, y, z) becomes that to the nearest image. */
#define MINIDEM_TO_NEAREST(x, y, z, box) do { \
        if ((box)[15] != 0.0) { \
            __typeof__(x) lengths_ = MINIDEM_ROUNDED((x) * (box)[9] + (y) * (box)[10] + (z) * (box)[11]); \
            (x) = (x) - (box)[12] * lengths_; \
            (y) = (y) - (box)[13] * lengths_; \
            (z) = (z) - (box)[14] * lengths_; \
        } \
        (x) = MINIDEM_NEAREST(x, box, 0); \
        (y) = MINIDEM_NEAREST(y, box, 1); \
        (z) = MINIDEM_NEAREST(z, box, 2); \
    } while (0)
#endif
