#include "plural.h"

#include "elementary.h"

enum { PLURAL_TEXTS = 16, PLURAL_TEXT_MAX = 64 };

static char plural_text[PLURAL_TEXTS][PLURAL_TEXT_MAX];
static int plural_turn;

static char *plural_room(void)
{
	plural_turn = (plural_turn + 1) % PLURAL_TEXTS;
	return plural_text[plural_turn];
}

const char *plural(long count)
{
	return count == 1 ? "" : "s";
}

const char *number_text(double value, int count)
{
	char *const room = plural_room();
	double size = absolute(value);
	int places = count - 1;

	if (!is_number(value) || size > 1e30)
		return "-";
	for (; size >= 10 && places > 0; size /= 10)
		places--;
	for (; size < 1 && places < count + 5; size *= 10)
		places++;
	snprintf(room, PLURAL_TEXT_MAX, "%.*f", places, value);
	if (strchr(room, '.')) { /* as %g, without zeros at the end */
		char *end = room + strlen(room);

		while (end[-1] == '0')
			*--end = '\0';
		if (end[-1] == '.')
			end[-1] = '\0';
	}
	return strcmp(room, "-0") == 0 ? room + 1 : room;
}

const char *seconds_text(double seconds)
{
	const int step = seconds < 1e-3 ? 2 : seconds < 1;
	static const char *const units[] = { "s", "ms", "us" };
	static const double scales[] = { 1, 1e3, 1e6 };
	char *const room = plural_room();

	snprintf(room, PLURAL_TEXT_MAX, "%s %s", number_text(seconds * scales[step], 3),
		 units[step]);
	return room;
}
