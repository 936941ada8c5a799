#include "card.h"

#include "../harness/error.h"
#include "../harness/json.h"
#include "../harness/sysfile.h"

#include <unistd.h>

enum {
	CL_TYPE = 0x1000,
	CL_UNITS = 0x1002,
	CL_LOCAL_MOST = 0x1004,
	CL_CLOCK = 0x100C,
	CL_LARGEST = 0x1010,
	CL_CACHE = 0x101E,
	CL_MEMORY = 0x101F,
	CL_ECC = 0x1024,
	CL_AVAILABLE = 0x1027,
	CL_NAME = 0x102B,
	CL_VENDOR = 0x102C,
	CL_DRIVER = 0x102D,
	CL_VERSION = 0x102F,
	CL_DOUBLES = 0x1032,
	CL_UUID = 0x106A,           /* cl_khr_device_uuid */
	CL_PCI = 0x410F,            /* cl_khr_pci_bus_info: domain, bus, device, function */
	CL_BOARD_NAME_AMD = 0x4038, /* cl_amd_device_attribute_query */
	CL_FREE_MEMORY_AMD = 0x4039
};

/* 0 where the driver does not know the question, or answers something of another size. */
static int card_ask(cl_device device, unsigned what, void *value, size_t size)
{
	size_t got = 0;

	memset(value, 0, size);
	return cl.GetDeviceInfo(device, what, size, value, &got) == CL_SUCCESS && got == size;
}

static unsigned card_number(cl_device device, unsigned what)
{
	unsigned value;

	return card_ask(device, what, &value, sizeof(value)) ? value : 0;
}

static unsigned long long card_long(cl_device device, unsigned what)
{
	unsigned long long value;

	return card_ask(device, what, &value, sizeof(value)) ? value : 0;
}

static int card_text(cl_device device, unsigned what, char text[CARD_TEXT])
{
	char *at;

	*text = '\0';
	if (cl.GetDeviceInfo(device, what, CARD_TEXT - 1, text, NULL) != CL_SUCCESS)
		*text = '\0';
	text[CARD_TEXT - 1] = '\0';
	for (at = text; *at; at++)
		if ((unsigned char)*at < ' ')
			*at = ' ';
	return *text != '\0';
}

static void card_address(struct card *card)
{
	unsigned at[4];
	char line[SYSLINE_MAX];

	card->domain = -1;
	if (!card_ask(card->device, CL_PCI, at, sizeof(at)))
		return;
	snprintf(card->pci, sizeof(card->pci), "%04x:%02x:%02x.%x", at[0] & 0xFFFF, at[1] & 0xFF,
		 at[2] & 0x1F, at[3] & 7);
	if (sysfile_line(line, "/sys/bus/pci/devices/%s/numa_node", card->pci))
		card->domain = atoi(line);
}

static void card_identity(struct card *card)
{
	unsigned char uuid[16];
	size_t b, at = 0;

	if (!card_text(card->device, CL_BOARD_NAME_AMD, card->name))
		card_text(card->device, CL_NAME, card->name);
	card_text(card->device, CL_VENDOR, card->vendor);
	card_text(card->device, CL_DRIVER, card->driver);
	card_text(card->device, CL_VERSION, card->version);
	if (cl.GetPlatformInfo(card->platform, CL_PLATFORM_NAME, CARD_TEXT - 1, card->by, NULL) !=
	    CL_SUCCESS)
		*card->by = '\0';
	if (card_ask(card->device, CL_UUID, uuid, sizeof(uuid)))
		for (b = 0; b < sizeof(uuid); b++)
			at += (size_t)snprintf(
				card->uuid + at, sizeof(card->uuid) - at,
				b == 4 || b == 6 || b == 8 || b == 10 ? "-%02x" : "%02x", uuid[b]);
	card_address(card);
}

static void card_describe(struct card *card)
{
	size_t free_kib = 0;

	card_identity(card);
	card->type = card_long(card->device, CL_TYPE);
	card->memory = card_long(card->device, CL_MEMORY);
	card->largest = card_long(card->device, CL_LARGEST);
	card->cache = card_long(card->device, CL_CACHE);
	card->local_most = (size_t)card_long(card->device, CL_LOCAL_MOST);
	card->units = card_number(card->device, CL_UNITS);
	card->clock_mhz = card_number(card->device, CL_CLOCK);
	card->has_ecc = card_number(card->device, CL_ECC) != 0;
	card->is_available = card_number(card->device, CL_AVAILABLE) != 0;
	card->has_double = card_long(card->device, CL_DOUBLES) != 0;
	/* one or two numbers, the first is the whole */
	if (cl.GetDeviceInfo(card->device, CL_FREE_MEMORY_AMD, sizeof(free_kib), &free_kib,
			     NULL) == CL_SUCCESS &&
	    free_kib && 1024ULL * free_kib < card->memory)
		card->others_took = card->memory - 1024ULL * free_kib;
}

int card_is_cpu(const struct card *card)
{
	return (card->type & CL_TYPE_CPU) != 0;
}

static int card_before(const void *one, const void *other)
{
	const struct card *const a = one, *const b = other;
	const int order = strcmp(a->pci, b->pci);

	return order ? order : a->index - b->index;
}

static int card_is_there(const struct card *cards, int count, const char *pci)
{
	while (*pci && count-- > 0)
		if (strcmp(cards[count].pci, pci) == 0)
			return 1;
	return 0;
}

static int card_of_platform(struct card cards[CARDS_MAX], int count, cl_platform platform,
			    int cpus)
{
	cl_device devices[CARDS_MAX];
	unsigned found = 0, d;
	struct card *card;

	if (cl.GetDeviceIDs(platform, CL_TYPE_CPU | CL_TYPE_GPU | CL_TYPE_ACCELERATOR, CARDS_MAX,
			    devices, &found) != CL_SUCCESS)
		return count;
	for (d = 0; d < found && d < CARDS_MAX && count < CARDS_MAX; d++) {
		card = &cards[count];
		memset(card, 0, sizeof(*card));
		card->platform = platform;
		card->device = devices[d];
		card->index = count;
		card_describe(card);
		count += card_is_cpu(card) == cpus && !card_is_there(cards, count, card->pci);
	}
	return count;
}

int card_all(struct card cards[CARDS_MAX], int cpus)
{
	cl_platform platforms[CARDS_MAX];
	unsigned found = 0, p;
	int count = 0, c;
	const int status = cl.GetPlatformIDs(CARDS_MAX, platforms, &found);

	if (status != CL_SUCCESS || !found)
		return 0;
	for (p = 0; p < found && p < CARDS_MAX; p++)
		count = card_of_platform(cards, count, platforms[p], cpus);
	qsort(cards, (size_t)count, sizeof(*cards), card_before);
	for (c = 0; c < count; c++) {
		cards[c].index = c;
		cards[c].count = count;
	}
	return count;
}

/* A file of /dev through which a driver reaches a card, and that this user may not open; NULL:
 * none. */
static const char *card_forbidden(void)
{
	static const char *const nodes[] = { "/dev/nvidia0", "/dev/nvidiactl", "/dev/kfd",
					     "/dev/dri/renderD128" };
	size_t n;

	for (n = 0; n < sizeof(nodes) / sizeof(*nodes); n++)
		if (access(nodes[n], F_OK) == 0 && access(nodes[n], R_OK | W_OK) != 0)
			return nodes[n];
	return NULL;
}

static void card_die_of_none(void)
{
	static const char install[] =
		"install the card's driver with its OpenCL part: 'clinfo -l' "
		"lists what there is; '--cpu' measures a CPU";
	static struct card cpus[CARDS_MAX];
	const char *const forbidden = card_forbidden();
	unsigned drivers = 0;

	if (forbidden)
		die("no card: no permission to open '%s'",
		    "join its group (ls -l), or request the card from the scheduler", forbidden);
	if (cl.GetPlatformIDs(0, NULL, &drivers) != CL_SUCCESS || !drivers)
		die("no card: no driver has registered with OpenCL", install);
	if (card_all(cpus, 1))
		die("no card: OpenCL has no device but a CPU, '%s'", install, cpus[0].name);
	die("no card: OpenCL has drivers (%u), and none shows a device", install, drivers);
}

void card_open(struct card *card, int index, int cpus)
{
	static struct card cards[CARDS_MAX]; /* too many for a small stack */
	const int count = card_all(cards, cpus);

	if (!count)
		card_die_of_none();
	if (index >= count)
		die("no card %d: this node shows %d, the last is card %d",
		    "'device --list' lists them; a card that was there before is gone: see dmesg",
		    index, count, count - 1);
	*card = cards[index];
	if (!card->is_available)
		die("card %d, '%s', is not available: another process has it for itself",
		    "wait for it, or request the card from the scheduler", index, card->name);
	card->context = card_context(&card->device, 1);
	card->queue = card_queue(card->context, card->device);
}

cl_context card_context(const cl_device *devices, unsigned count)
{
	int status;
	const cl_context made = cl.CreateContext(NULL, count, devices, NULL, NULL, &status);

	opencl_check(status, "CreateContext");
	return made;
}

cl_queue card_queue(cl_context context, cl_device device)
{
	int status;
	const cl_queue made = cl.CreateCommandQueue(context, device, CL_QUEUE_PROFILING, &status);

	opencl_check(status, "CreateCommandQueue");
	return made;
}

cl_mem card_buffer(cl_context context, cl_bits flags, size_t bytes)
{
	int status;
	const cl_mem made =
		cl.CreateBuffer(context, CL_MEM_READ_WRITE | flags, bytes, NULL, &status);

	if (status == CL_SUCCESS)
		return made;
	if (status != CL_NO_MEMORY && status != CL_OUT_OF_RESOURCES &&
	    status != CL_INVALID_BUFFER_SIZE)
		opencl_check(status, "CreateBuffer");
	return NULL;
}

void card_list(int cpus)
{
	static struct card cards[CARDS_MAX]; /* too many for a small stack */
	const int count = card_all(cards, cpus);
	int c;

	if (!count)
		card_die_of_none();
	for (c = 0; c < count; c++)
		printf("%d %s%s%s%s%s\n", c, cards[c].name, *cards[c].pci ? " " : "", cards[c].pci,
		       *cards[c].uuid ? " " : "", cards[c].uuid);
}

static void card_write_link(const struct card *card)
{
	static const char *const files[] = { "current_link_speed", "current_link_width",
					     "max_link_speed", "max_link_width" };
	char line[SYSLINE_MAX];
	size_t f;

	for (f = 0; *card->pci && f < sizeof(files) / sizeof(*files); f++)
		if (sysfile_line(line, "/sys/bus/pci/devices/%s/%s", card->pci, files[f]))
			json_text(files[f], line);
}

void card_write(const struct card *card)
{
	json_open("device", '{');
	json_count("index", (unsigned)card->index);
	json_count("count", (unsigned)card->count);
	json_text("kind", card_is_cpu(card) ? "cpu" : "card");
	json_text("name", card->name);
	json_text("vendor", card->vendor);
	json_text("uuid", card->uuid);
	json_text("pci", card->pci);
	json_index("numa_domain", card->domain);
	json_text("driver", card->driver);
	json_text("opencl", card->version);
	json_text("platform", card->by);
	json_count("memory_mib", card->memory >> 20);
	json_count("cache_bytes", card->cache);
	json_count("units", card->units);
	json_count("clock_max_mhz", card->clock_mhz);
	json_truth("ecc", card->has_ecc);
	card_write_link(card);
	/* by OpenCL none of these can be known; of AMD's drivers how much memory is free */
	if (card->others_took)
		json_count("others_took_mib", card->others_took >> 20);
	else
		json_text("other_processes", NULL);
	json_text("clock_now_mhz", NULL);
	json_text("power_cap_w", NULL);
	json_close('}');
}
