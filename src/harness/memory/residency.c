#include "residency.h"

static const double RESIDENCY_FALLS = 0.75, RESIDENCY_AGREES = 0.9;

const char *residency_word(enum residency residency)
{
	static const char *const words[] = { "unknown", "declared", "contradicted", "proven" };

	return words[residency];
}

int residency_falls(double rate, double larger)
{
	return larger < RESIDENCY_FALLS * rate;
}

int residency_agrees(double rate, double other)
{
	return rate > RESIDENCY_AGREES * other && other > RESIDENCY_AGREES * rate;
}
