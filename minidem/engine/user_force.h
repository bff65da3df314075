/* Where user_force.h was until version 0.22. */
#include "forces/user_force.h"
