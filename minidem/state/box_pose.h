/* The periodic box at one instant, as compiled code reads it. */
#ifndef MINIDEM_BOX_POSE_H
#define MINIDEM_BOX_POSE_H

/* Lengths and inverses are zero along open axes, where all formulas then change nothing. */
typedef struct {
    double length[3];               /* [m] */
    double inverse[3];              /* 1 / length [1/m] */
    double low[3];                  /* low corner [m] */
    int moves;                      /* 0: none of what follows is used */
    int flow_axis, gradient_axis;   /* of the shear; 0 and 1 without shear */
    int affine;                     /* clumps take part in changes of the flow */
    int stretches;                  /* a length changes in this step, or in the one before or after */
    double across[3];               /* 1 / length of the gradient axis [1/m], other components 0 */
    double lattice[3];              /* displacement of the image along the gradient axis [m] */
    double behind[3];               /* rates of the lengths in the step that ends at this instant [m/s] */
    double lattice_behind[3];       /* rate of `lattice` in that step */
    double ahead[3];                /* rates in the step that begins at this instant */
    double lattice_ahead[3];
    double path;                    /* path of the strain since the first step */
    double flow[9];                 /* (3, 3) velocity gradient in the step that ends here or is under way [1/s] */
    double kick[9];                 /* (3, 3) its change between that step and the one before it [1/s] */
    double deformation[9];          /* (3, 3) since the first step */
    double inverse_deformation[9];
} BoxPose;
#endif
