#include "textflag.h"

// func Frame() uintptr
TEXT ·Frame(SB), NOSPLIT, $0-8
	MOVQ BP, ret+0(FP)
	RET
