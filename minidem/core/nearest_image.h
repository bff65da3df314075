/* The nearest image of a difference of coordinates, for numbers and vectors of them. */
#ifndef MINIDEM_NEAREST_IMAGE_H
#define MINIDEM_NEAREST_IMAGE_H

/* To the nearest integer, half to even, below 2^51; odd, so that exchanging two spheres changes signs only. */
#define MINIDEM_ROUNDED(x) ((x) + 6755399441055744.0 - 6755399441055744.0)

/* A difference d along an axis, less whole lengths of the box. box: see state/periodic_box.pxd. */
#define MINIDEM_NEAREST(d, box, axis) ((d) - (box)[axis] * MINIDEM_ROUNDED((d) * (box)[(axis) + 3]))

/* The first step towards the nearest image in a box that may be tilted: whole lengths along its gradient axis, an
 * argument `across` of (flow, across), with the displacement along its flow axis. */
#define MINIDEM_UNTILT(flow, across, box, g, f) do { \
        __typeof__(flow) lengths_ = MINIDEM_ROUNDED((across) * (box)[9 + (g)]); \
        (across) = (across) - (box)[12 + (g)] * lengths_; \
        (flow) = (flow) - (box)[12 + (f)] * lengths_; \
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
        if ((tilt) != 4 && (tilt) != 7) (x) = MINIDEM_NEAREST(x, box, 0); \
        if ((tilt) != 2 && (tilt) != 8) (y) = MINIDEM_NEAREST(y, box, 1); \
        if ((tilt) != 3 && (tilt) != 6) (z) = MINIDEM_NEAREST(z, box, 2); \
    } while (0)
#endif
