/* The width of a block for the C headers; check_lanes compares it with core/lanes.pxd at compile time. */
#ifndef MINIDEM_LANES_H
#define MINIDEM_LANES_H
enum { MINIDEM_LANES = 8 };
#define MINIDEM_CHECK_LANES(lanes, log_lanes) \
    _Static_assert((int) (lanes) == (int) MINIDEM_LANES && 1 << (log_lanes) == (lanes), "lanes.pxd and lanes.h differ")
#endif
