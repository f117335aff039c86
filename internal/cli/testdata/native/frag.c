// Allocates 150,000 blocks, frees all but one of sixteen, and lives for four seconds.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *blocks[150000];

int main(void) {
	for (int i = 0; i < 150000; i++)
		memset(blocks[i] = malloc(1000), 1, 1000);
	for (int i = 0; i < 150000; i++)
		if (i % 16) free(blocks[i]);
	sleep(4);
	return 0;
}
