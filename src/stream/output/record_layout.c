#include "record_layout.h"

#include "../../harness/json.h"

void record_layout(const struct arrays *arrays)
{
	char name[2] = "a";
	int k;

	json_open("alignment_bytes", '{');
	for (k = 0; k < ARRAYS; k++, name[0]++)
		json_count(name, arrays_alignment(arrays, k));
	json_close('}');
	json_count("stride_bytes", (size_t)(arrays->of[1] - arrays->of[0]) * sizeof(element));
}
