#include "energy.h"

#include "../harness/elementary.h"
#include "forces.h"

enum { SYSTEM = 512, STEPS = 16 };
static const double STEP_TIME = 1e-3;

/* Of a system at rest at first: the velocities are kept here, in double. */
struct motion {
	struct bodies bodies;
	double v[3][SYSTEM];
};

static void kick(struct motion *m, double time)
{
	const struct bodies *const b = &m->bodies;
	int axis;
	long i;

	bodies_forces(b, 0, b->count / GROUP);
	for (axis = 0; axis < 3; axis++)
		for (i = 0; i < SYSTEM; i++)
			m->v[axis][i] += time * bodies_number(b, b->a[axis], i);
}

static void drift(struct motion *m, double time)
{
	const struct bodies *const b = &m->bodies;
	int axis;
	long i;

	for (axis = 0; axis < 3; axis++)
		for (i = 0; i < SYSTEM; i++)
			bodies_add(b, b->x[axis], i, time * m->v[axis][i]);
}

static double energy_of(const struct motion *m)
{
	const double mass = 1.0 / SYSTEM;
	double moving = 0, potential = 0;
	long i, j;
	int axis;

	for (i = 0; i < SYSTEM; i++) {
		for (axis = 0; axis < 3; axis++)
			moving += m->v[axis][i] * m->v[axis][i];
		for (j = 0; j < i; j++) {
			double square = SOFTENING;

			for (axis = 0; axis < 3; axis++) {
				const void *const x = m->bodies.x[axis];
				const double d = bodies_number(&m->bodies, x, i) -
						 bodies_number(&m->bodies, x, j);

				square += d * d;
			}
			potential -= mass * mass / square_root(square);
		}
	}
	return mass * moving / 2 + potential;
}

double energy_drift(enum precision precision)
{
	static struct motion m;
	double before, after;
	int step;

	bodies_start(&m.bodies, precision, SYSTEM);
	before = energy_of(&m);
	for (step = 0; step < STEPS; step++) {
		kick(&m, STEP_TIME / 2);
		drift(&m, STEP_TIME);
		kick(&m, STEP_TIME / 2);
	}
	after = energy_of(&m);
	bodies_end(&m.bodies);
	return absolute(after / before - 1);
}
