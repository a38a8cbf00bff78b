// cl: -cl-std=CL2.0
// Program-scope variables in global memory with initialisers, function-scope static data, and state
// that one kernel leaves for the next (pointers have their own file).
global int counter = 5;
global int totals[4] = {1, 2, 3, 4};
global float cleared[3];

kernel void step(global int *out) {
    static global int calls = 100;
    int i = (int)get_global_id(0);
    totals[i] += i + 1;
    if (i == 0) {
        counter *= 2;
        calls += 1;
        out[4] = calls;
    }
    if (i < 3) cleared[i] += 0.5f;
}

kernel void report(global int *out) {
    int i = (int)get_global_id(0);
    out[i] = totals[i] * 10;
    if (i == 0) {
        out[5] = counter;
        out[6] = (int)(cleared[0] + cleared[1] + cleared[2]);
    }
}
