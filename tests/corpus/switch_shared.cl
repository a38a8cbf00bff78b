// clang15-O2: -O1
// Several cases of one switch, and its default, go to the same place with different values on the way.
kernel void shared_break(global const int *x, global const int *o, global int *y) {
  int i = get_global_id(0), r = 0;
  switch (x[i]) {
  case 1:
  case 2:
  case 9: break;
  case 3: r = 7; break;
  default: r = o[i];
  }
  y[i] = r;
}

// Cases that share a block with the default; a second value that differs between the edges.
kernel void shared_default(global const int *x, global int *y) {
  int i = get_global_id(0), r = 5, s = 1;
  switch (x[i]) {
  case 10: r = 1; s = x[i]; break;
  case 20: s = 3;
  case -4:
  case 7:
  default: break;
  }
  y[i] = r * 100 + s;
}

// The edges of a switch that go round a loop.
kernel void shared_loop(global const int *x, global int *y) {
  int i = get_global_id(0), n = 0, v = x[i] & 15;
  for (int k = 0; k < 8; k++) {
    switch (v) {
    case 0:
    case 3:
    case 5: v = v + 1; continue;
    case 11: v = 0; n += 2; continue;
    default: v = (v * 3 + n) & 15; n++;
    }
  }
  y[i] = n * 16 + v;
}
