#include "room.h"

#include "error.h"

void *room_for(size_t count, size_t size, const char *what, const char *hint)
{
	void *room = calloc(count, size);

	if (!room)
		die("no memory for %zu %s", hint, count, what);
	return room;
}
