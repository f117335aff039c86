// A program whose first thread ends and leaves another: it prints, and exits
// with 4 when its input ends.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void *second(void *unused) {
	printf("0x0 %d\n", getpid());
	fflush(stdout);
	getchar();
	exit(4);
}

int main(void) {
	pthread_t t;
	pthread_create(&t, 0, second, 0);
	pthread_exit(0);
}
