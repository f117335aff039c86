// threads makes as many threads as its argument says, one after the other, and then
// one that stays until its input ends. Each that runs is counted, and printed.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int ran;

static void *run(void *stays) {
	ran++;
	char c;
	while (stays && read(0, &c, 1) == 1)
		;
	return NULL;
}

int main(int argc, char **argv) {
	pthread_t t;
	for (int n = atoi(argv[1]); n > 0; n--) {
		pthread_create(&t, NULL, run, NULL);
		pthread_join(t, NULL);
	}
	pthread_create(&t, NULL, run, argv);
	printf("%d\n", ran);
	fflush(stdout);
	pthread_join(t, NULL);
	return ran & 127;
}
