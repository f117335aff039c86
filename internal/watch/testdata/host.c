// host loads the library that its first argument names, at once or, where there is
// a second one, when its input ends; it runs the library until that returns.
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv) {
	if (argc > 2)
		while (getchar() != EOF)
			;
	void *library = dlopen(argv[1], RTLD_NOW);
	if (!library) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	void (*run)(void) = (void (*)(void))dlsym(library, "Run");
	run();
	return 0;
}
