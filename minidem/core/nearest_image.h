/* The nearest image of a difference of coordinates, for numbers and vectors of them. */
#ifndef MINIDEM_NEAREST_IMAGE_H
#define MINIDEM_NEAREST_IMAGE_H

/* To the nearest integer, half to even, below 2^51; odd, so that exchanging two spheres changes signs only. */
#define MINIDEM_ROUNDED(x) ((x) + 6755399441055744.0 - 6755399441055744.0)

/* A difference d along an axis, less whole lengths of the box. box: see state/periodic_box.pxd. */
#define MINIDEM_NEAREST(d, box, axis) ((d) - (box)[axis] * MINIDEM_ROUNDED((d) * (box)[(axis) + 3]))
#endif
