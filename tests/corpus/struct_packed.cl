// Packed and over-aligned structs: unaligned fields of 2 to 8 bytes inside a byte stream, and a
// struct aligned to 32 bytes whose array stride follows.
typedef struct __attribute__((packed)) {
    uchar kind;
    uint length;
    ushort check;
    ulong stamp;
} header;

typedef struct __attribute__((aligned(32))) {
    float value[3];
    int count;
} slot;

kernel void parse(global const header *in, global ulong *out) {
    size_t i = get_global_id(0);
    header h = in[i];
    out[2 * i] = h.kind * 1000000000ul + h.length + h.check;
    out[2 * i + 1] = in[i].stamp + sizeof(header);
}

kernel void emit(global uchar *stream, uint count) {
    size_t i = get_global_id(0);
    if (i >= count) return;
    global header *h = (global header *)(stream + 1) + i;
    h->kind = (uchar)(i + 1);
    h->length = 0x01020304u * (uint)i;
    h->check = (ushort)(0xabcd + i);
    h->stamp = 0x1122334455667788ul >> i;
}

kernel void slots(global slot *s, global int *info) {
    size_t i = get_global_id(0);
    for (int k = 0; k < 3; k++) s[i].value[k] = (float)(i * 3 + k);
    s[i].count = (int)i;
    if (i == 0) info[0] = sizeof(slot), info[1] = (int)((global char *)(s + 1) - (global char *)s);
}
