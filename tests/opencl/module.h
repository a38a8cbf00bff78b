/* module.h — a module of SPIR-V with a kernel and specialization constants. */
#ifndef SPVFUSE_TESTS_MODULE_H
#define SPVFUSE_TESTS_MODULE_H

#include "tests/frontend/words.h"
#include "tests/opencl/programs.h"

#include <spirv/unified1/spirv.h>

/* kernel void k(global int *out) { *out = 5 + (b ? 100 : 0); }, where 5 is specialization constant
 * 7, b is 8, a boolean, and constant 9 of 64 bits is not used. */
static inline void write_module(void) {
    enum {
        VOID = 1,
        INT,
        POINTER,
        FUNCTION,
        KERNEL,
        OUT,
        LABEL,
        A,
        B,
        C,
        SUM,
        BOOL,
        LONG,
        ZERO,
        D,
        E
    };
    nwords = 0;
    memcpy(words, (const uint32_t[]){SpvMagicNumber, 0x00010000, 0, E + 1, 0}, 20);
    nwords = 5;
    OP(SpvOpCapability, SpvCapabilityAddresses);
    OP(SpvOpCapability, SpvCapabilityKernel);
    OP(SpvOpCapability, SpvCapabilityInt64);
    OP(SpvOpMemoryModel, SpvAddressingModelPhysical64, SpvMemoryModelOpenCL);
    OPS("k", SpvOpEntryPoint, SpvExecutionModelKernel, KERNEL);
    OP(SpvOpDecorate, A, SpvDecorationSpecId, 7);
    OP(SpvOpDecorate, B, SpvDecorationSpecId, 8);
    OP(SpvOpDecorate, C, SpvDecorationSpecId, 9);
    OP(SpvOpTypeVoid, VOID);
    OP(SpvOpTypeBool, BOOL);
    OP(SpvOpTypeInt, INT, 32, 0);
    OP(SpvOpTypeInt, LONG, 64, 0);
    OP(SpvOpTypePointer, POINTER, SpvStorageClassCrossWorkgroup, INT);
    OP(SpvOpTypeFunction, FUNCTION, VOID, POINTER);
    OP(SpvOpSpecConstant, INT, A, 5);
    OP(SpvOpSpecConstantFalse, BOOL, B);
    OP(SpvOpSpecConstant, LONG, C, 1, 0);
    OP(SpvOpConstant, INT, D, 100);
    OP(SpvOpConstant, INT, ZERO, 0);
    OP(SpvOpFunction, VOID, KERNEL, SpvFunctionControlMaskNone, FUNCTION);
    OP(SpvOpFunctionParameter, POINTER, OUT);
    OP(SpvOpLabel, LABEL);
    OP(SpvOpSelect, INT, E, B, D, ZERO);
    OP(SpvOpIAdd, INT, SUM, A, E);
    OP(SpvOpStore, OUT, SUM);
    OP(SpvOpReturn);
    OP(SpvOpFunctionEnd);
}

static inline cl_program make_il(void) {
    write_module();
    return MAKE(clCreateProgramWithIL(ocl.context, words, nwords * 4, &error));
}

#endif
