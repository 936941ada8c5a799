/*
 * room: memory that is zero, or the end of the program.
 */
#pragma once

#include "config.h"

/* For COUNT times SIZE bytes; dies of "no memory for COUNT WHAT", with the hint. */
LOCAL void *room_for(size_t count, size_t size, const char *what, const char *hint);
