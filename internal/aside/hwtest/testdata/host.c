// host loads the library that its first argument names, at once or, where there is
// a second one, when a line of its input, or the input, ends. Then it runs the
// library until that returns.
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv) {
	char c = 0;
	if (argc > 2)
		while (c != '\n' && read(0, &c, 1) == 1)
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
