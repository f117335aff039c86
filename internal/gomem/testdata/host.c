// host loads the library that its argument names and runs it until it returns.
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv) {
	void *library = dlopen(argv[1], RTLD_NOW);
	if (!library) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	void (*run)(void) = (void (*)(void))dlsym(library, "Run");
	run();
	return 0;
}
