// Black-Scholes option prices with the polynomial normal distribution, put-call parity checked in
// place, scalar and four options at a time.
static float4 cdf4(float4 d) {
    float4 k = 1.0f / (1.0f + 0.2316419f * fabs(d));
    float4 poly =
        k * (0.319381530f +
             k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
    float4 p = 0.39894228f * exp(-0.5f * d * d) * poly;
    return select(p, 1.0f - p, d > 0.0f);
}

kernel void price4(global const float4 *spot, global const float4 *strike,
                   global const float4 *years, float rate, float vol, global float4 *call_out,
                   global float4 *put_out) {
    size_t i = get_global_id(0);
    float4 s = spot[i], x = strike[i], t = years[i];
    float4 root = sqrt(t);
    float4 d1 = (log(s / x) + (rate + 0.5f * vol * vol) * t) / (vol * root);
    float4 d2 = d1 - vol * root;
    float4 discounted = x * exp(-rate * t);
    call_out[i] = s * cdf4(d1) - discounted * cdf4(d2);
    put_out[i] = discounted * cdf4(-d2) - s * cdf4(-d1);
}

kernel void parity(global const float *spot, global const float *strike, global const float *years,
                   float rate, global const float *call_in, global const float *put_in,
                   global int *bad) {
    size_t i = get_global_id(0);
    float gap = call_in[i] - put_in[i] - (spot[i] - strike[i] * exp(-rate * years[i]));
    if (!(fabs(gap) < 1e-3f)) atomic_inc(bad);
}
