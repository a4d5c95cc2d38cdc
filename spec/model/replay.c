/* What replay.pml needs of C: the lines of a trace. */

#define MOST 20000

static struct {
	char machine[12], event[16], rid[8];
	int node, hop, to;
} line[MOST];
static int lines, volatiles;	/* volatiles: bit n says that node n is one */
static const char *name[256];	/* of events, by their number in the model */

static void refuse(const char *why, int where)
{
	fprintf(stderr, "line %d: %s\n", where, why);
	exit(2);
}

static int number_of(const char *event)
{
	int e;

	for (e = 0; e < 256; e++)
		if (name[e] && !strcmp(name[e], event))
			return e;
	fprintf(stderr, "no such event: %s\n", event);
	exit(2);
}

static void read_trace(void)
{
	char text[256], *file = getenv("TRACE");
	FILE *f = file ? fopen(file, "r") : NULL;

	if (!f || !fgets(text, sizeof text, f) || sscanf(text, "{\"volatile\":%d}", &volatiles) != 1)
		refuse("TRACE names no trace", 1);
	for (lines = 0; fgets(text, sizeof text, f); lines++) {
		if (lines == MOST)
			refuse("the trace is too long", lines + 2);
		if (sscanf(text, "{\"at\":%*f,\"machine\":\"%11[a-z]\",\"node\":%d,\"hop\":%d,"
			"\"event\":\"%15[A-Z_]\",\"to\":%d,\"rid\":\"%7[A-Z]\"}",
			line[lines].machine, &line[lines].node, &line[lines].hop,
			line[lines].event, &line[lines].to, line[lines].rid) != 6)
			refuse("not a step", lines + 2);
	}
	fclose(f);
}

static int class_of(const char *rid)
{
	return !strcmp(rid, "CUR") ? 1 : !strcmp(rid, "OLD") ? 2 : 4;
}
