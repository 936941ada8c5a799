/*
 * figures: what is said of a pair's meeting: verdict, record, table.
 */
#pragma once

#include "../harness/verdict.h"
#include "shared_line.h"

/* Own reasons of this program, in the order of their names in main.c. */
enum { SAME_CORE = REASONS, SLOW_TRANSPORT_FOUND };

double one_way_ns(double round_trip);

/* "cas_0_13_home_b"; lives as long as the program. */
const char *figure_name(const struct meeting *m);

/* The same of all pairs, "cas_home_b"; which of them a metric is of. */
const char *series_name(const struct meeting *m);
void metric_of_cpus(const struct pair *pair, const char *name, const char *series);

/* Sets it: one way of the median in UNIT, SCALE times seconds, with the interval where it has one.
 */
void metric_of_time(const struct blocks *blocks, const char *name, double scale, const char *unit);

/* "cas_llc", "cas_node_home_b_most": WHAT is "" or "_most". */
const char *class_figure_name(const struct meeting *m, const char *what);

/* Finds wrong-pinning: WHO, a thread or a rank for that CPU, might run on these, and was
 * SEEN on another (-1: it was not). */
void side_judge(const char *who, int cpu, const struct cpuset *mask, int seen);

/* CLASS: which it must be of; PAIR_CLASSES: any. */
void class_judge(const struct pair *pair, int class);
void meeting_judge(const struct meeting *m, const char *name, int class);

/* Long enough for the clock, not faster than light; warns where the median has no interval: the
 * same for lines and messages. */
void blocks_judge(const struct blocks *blocks, const char *name);

/* The first reason that these blocks give, -1 for none. */
int blocks_reason(const struct blocks *blocks);

/* Whether the median has an interval: it is within 10 %, and most blocks were undisturbed. */
int blocks_have_interval(const struct blocks *blocks);

/* Members of the record: of a pair; of its blocks. */
void pair_write(const struct pair *pair);
void blocks_write(const struct blocks *blocks);

void meeting_write(const struct meeting *m, const char *name);

/* A line per pair, a column per method and home. */
void meetings_print_head(const struct meeting *row, int width);
void meetings_print_row(const struct meeting *row, int width);
void meetings_print_notes(const struct meeting *all, int count);
