/* A rod whose ends stay cold: each step moves every element towards the mean of its neighbours. */
kernel void step(global const float *from, global float *to, int n) {
    int i = get_global_id(0);
    float left = i > 0 ? from[i - 1] : 0.0f;
    float right = i < n - 1 ? from[i + 1] : 0.0f;
    to[i] = 0.25f * left + 0.5f * from[i] + 0.25f * right;
}
