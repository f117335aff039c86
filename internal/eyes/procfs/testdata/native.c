// A program whose memory is known: 4 MiB of malloc from a second thread (in a
// thread arena), 2 MiB from the first (brk), 3 MiB mapped and written, 3 MiB
// mapped and only read, 1 MiB of bss; with an argument all shared with a child.
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MiB = 1 << 20 };
static char bss[MiB];

static void take(int bytes) {
	for (int n = 0; n < bytes; n += 16384) memset(malloc(16384), 1, 16384);
}
static void *second(void *unused) { take(4 * MiB); return unused; }

int main(int argc, char **argv) {
	pthread_t t;
	pthread_create(&t, 0, second, 0);
	pthread_join(t, 0);
	take(2 * MiB);
	memset(bss, 1, MiB);
	char *w = mmap(0, 6 * MiB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memset(w, 1, 3 * MiB);
	volatile char sum = 0;
	for (int i = 3 * MiB; i < 6 * MiB; i += 4096) sum += w[i];
	if (argc > 1 && fork() == 0) pause();
	printf("%p\n", (void *)w);
	fflush(stdout);
	getchar();
	if (argc > 1) kill(0, 9);
	return 0;
}
