/* The scheme of custom_integrator.py in C, compiled by it. */
#include "rotation/scheme.h"

typedef struct { double x, y, z; } vec;

static vec axpy(vec w, double h, vec a) { return (vec){w.x + h * a.x, w.y + h * a.y, w.z + h * a.z}; }

static vec rate(vec w, vec m, vec i) {
    return (vec){(m.x + (i.y - i.z) * w.y * w.z) / i.x, (m.y + (i.z - i.x) * w.z * w.x) / i.y,
                 (m.z + (i.x - i.y) * w.x * w.y) / i.z};
}
static vec flow(vec w, vec m, vec i, double h) {
    vec a = rate(w, m, i), b = rate(axpy(w, h, a), m, i), ab = axpy(a, 1.0, b);
    return axpy(w, h / 6.0, axpy(ab, 4.0, rate(axpy(w, h / 4.0, ab), m, i)));
}
static vec row(const double *p) { return (vec){p[0], p[8], p[16]}; }
static void put(double *p, vec v) { p[0] = v.x; p[8] = v.y; p[16] = v.z; }

static void half(const double *w, const double *torque, const double *inertia, double dt, double *to) {
    for (int k = 0; k < 8; k++)
        put(to + k, flow(row(w + k), row(torque + k), row(inertia + k), 0.5 * dt));
}
void finish(minidem_bodies *bodies, const minidem_wrench *wrench, const minidem_constants *constants,
            const minidem_step *step) {
    half(bodies->angular_velocity, wrench->torque, constants->inertia, step->dt, bodies->angular_velocity);
}
void predict(minidem_bodies *bodies, const minidem_wrench *wrench, const minidem_constants *constants,
             const minidem_step *step) {
    half(bodies->angular_velocity, wrench->torque, constants->inertia, step->dt, bodies->predicted);
}
void move(minidem_bodies *bodies, const minidem_wrench *wrench, const minidem_constants *constants,
          const minidem_step *step) {
    finish(bodies, wrench, constants, step);
    for (int k = 0; k < 8; k++) {
        double *q = bodies->orientation + k, a = q[0], b = q[8], d = q[16], e = q[24], h = 0.5 * step->dt;
        vec v = row(bodies->angular_velocity + k);
        v.x *= h; v.y *= h; v.z *= h;
        double s = v.x * v.x + v.y * v.y + v.z * v.z;
        double c = 1.0 - s / 2.0 * (1.0 - s / 12.0 * (1.0 - s / 30.0 * (1.0 - s / 56.0)));
        double f = 1.0 - s / 6.0 * (1.0 - s / 20.0 * (1.0 - s / 42.0 * (1.0 - s / 72.0)));
        v.x *= f; v.y *= f; v.z *= f;
        q[0] = a * c - b * v.x - d * v.y - e * v.z;
        q[8] = a * v.x + b * c + d * v.z - e * v.y;
        q[16] = a * v.y - b * v.z + d * c + e * v.x;
        q[24] = a * v.z + b * v.y - d * v.x + e * c;
    }
}
