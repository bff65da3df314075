/* The width of a block for the C headers; core/lanes.pxd checks at compile time that it is the same there. */
#ifndef MINIDEM_LANES_H
#define MINIDEM_LANES_H
enum { MINIDEM_LANES = 8 };
#define MINIDEM_CHECK_LANES(lanes, log_lanes) \
    _Static_assert((int) (lanes) == (int) MINIDEM_LANES && 1 << (log_lanes) == (lanes), "lanes.pxd and lanes.h differ")
#endif
