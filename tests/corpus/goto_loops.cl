// Control flow made with goto: a loop entered in the middle, two loops that share a tail, a
// backward jump out of nested loops, and a cleanup label.
kernel void middle_entry(global const int *in, global int *out) {
    int i = (int)get_global_id(0), x = in[i], steps = 0;
    if (x & 1) goto odd;
even:
    x /= 2;
    steps++;
    if (x & 1) goto odd;
    if (x > 0) goto even;
    goto done;
odd:
    x = x * 3 - 7;
    steps += 100;
    if (x > 0 && steps < 900) goto even;
done:
    out[2 * i] = x;
    out[2 * i + 1] = steps;
}

kernel void search(global const int *grid, int width, int height, global int *out) {
    int want = (int)get_global_id(0) * 3, found = -1, tries = 0;
again:
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            if (grid[y * width + x] == want) {
                found = y * 100 + x;
                goto out_of_both;
            }
            if (grid[y * width + x] < 0 && tries < 2) {
                tries++;
                want++;
                goto again;
            }
        }
out_of_both:
    out[get_global_id(0)] = found * 10 + tries;
}

kernel void shared_tail(global const int *in, global int *out, int limit) {
    int i = (int)get_global_id(0), x = in[i], sum = 0;
    if (x > limit) goto down;
up:
    sum += x;
    x += 3;
    goto tail;
down:
    sum -= x;
    x -= 2;
tail:
    if (sum > 1000 || sum < -1000) goto fail;
    if (x > limit + 10) goto down;
    if (x < limit) goto up;
    out[i] = sum;
    return;
fail:
    out[i] = -77777;
}
