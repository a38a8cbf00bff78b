// switch statements: dense cases, fall-through, default in the middle, nested switches, a switch
// inside a loop with break and continue, and a state machine.
kernel void dense(global const int *in, global int *out) {
    size_t i = get_global_id(0);
    int x = in[i], r = 0;
    switch (x) {
    case 0: r = 10; break;
    case 1: r = 20;
    case 2: r += 3; break;
    default: r = -1; break;
    case 3:
    case 4:
    case 5: r = x * x; break;
    case -1: r = 99;
    case 7: r++;
    }
    out[i] = r;
}

kernel void nested(global const uchar *op, global const int *arg, int n, global int *out) {
    int acc = (int)get_global_id(0);
    for (int k = 0; k < n; k++) {
        switch (op[k]) {
        case '+': acc += arg[k]; continue;
        case '-': acc -= arg[k]; break;
        case '?':
            switch (acc % 4) {
            case 0: acc = acc * 2 + 1; break;
            case -3:
            case 3: acc = -acc;
            case 1: acc += 1000; break;
            }
            break;
        case '!': k = n; break;
        default: acc ^= arg[k];
        }
        acc += 1;
    }
    out[get_global_id(0)] = acc;
}

// Counts the words of a text: a state machine over characters.
kernel void words(constant uchar *text, int n, global int *out) {
    int start = (int)get_global_id(0) * 4, state = 0, count = 0;
    for (int k = start; k < n; k++) {
        uchar c = text[k];
        switch (state) {
        case 0:
            if (c != ' ') state = 1, count++;
            break;
        case 1:
            if (c == ' ')
                state = 0;
            else if (c == '"')
                state = 2;
            break;
        case 2:
            if (c == '"') state = 1;
            break;
        }
    }
    out[get_global_id(0)] = count;
}
