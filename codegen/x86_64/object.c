/* object.c — what an object file says of x86-64. */
#include "codegen/codegen.h"

#include <elf.h>

const cg_machine cg_x86_64_machine = {.elf = EM_X86_64,
                                      .pc32 = R_X86_64_PC32,
                                      .abs32 = R_X86_64_32,
                                      .abs64 = R_X86_64_64,
                                      .unwind = SHT_X86_64_UNWIND,
                                      .sp = 7,
                                      .fp = 6,
                                      .ra = 16,
                                      .push = 1,  /* push rbp */
                                      .move = 3}; /* mov rbp, rsp */
