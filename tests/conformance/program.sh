#!/bin/sh
# program.sh list GROUP: the tests of a group.  program.sh NAME: runs one; prints
# "NAME PASSED FAILED SKIPPED".  Its output goes to the folder PROGRAMS, where programs.sh has put
# what had to be compiled.

# Hashes that hashcat cracks, with its own examples' word: MODE HASH.
hashes='0 8743b52063cd84097a65d1633f5c74f5
100 b89eaac7e61417341b710b727768294d0e6a277b
1000 b4b9b02e6f09a9bd760f388b67351e2b
1400 127e6fbfe24a750e72930c220a8e138275656b8e5d8f48a98c3c92df2caba935
3200 $2a$05$MBCzKhG1KhezLh.0LRa0Kuw12nLJtpHy6DIaU.JAnqJUDYspHC.Ou'

list() {
    case $1 in
    clinfo) echo clinfo ;;
    clpeak) printf 'clpeak/%s\n' global-bandwidth compute-sp compute-integer kernel-latency ;;
    hashcat) printf '%s\n' "$hashes" | sed 's|^\([0-9]*\) .*|hashcat/\1|' ;;
    pyopencl) echo pyopencl ;;
    pygpu) printf 'pygpu/test_%s\n' basic elemwise gpu_ndarray operations reduction tools ;;
    clblast)
        printf 'clblast/x%s\n' amax asum axpy axpybatched col2im copy dot ger gemv had im2col nrm2 \
            omatcopy scal swap trsv
        ;;
    clfft)
        printf 'clfft/-x:%s\n' 2 64 1000 4096 15015 1048576 8:-y:8:-z:8 30:-y:30:-z:14 1000:-y:12 \
            128:-y:256
        ;;
    viennacl) echo viennacl ;;
    openmm) echo openmm ;;
    esac
}

# A hash is cracked when the word is there that was among those to try.
run_hashcat() {
    hash=$(printf '%s\n' "$hashes" | sed -n "s|^$1 ||p")
    printf 'one\nhashcat\ntwo\n' >"$out.words"
    timeout 600 hashcat -m "$1" -a 0 -D 1 --force --potfile-disable --logfile-disable --quiet \
        --session "$(basename "$out")" -o "$out.found" "$hash" "$out.words"
    grep -q ':hashcat$' "$out.found" && echo 'passed 1'
}

# Every figure is a number, and none is 0.
run_clpeak() {
    timeout 300 clpeak "--$1" | awk '
        /^ +[a-z0-9A-Z ]+: *[0-9.]* *(us)?$/ && !/Driver|units|freq/ {
            print $0 ~ /: *[0-9]*[.]?[0-9]*[1-9]/ ? "passed 1" : "failed 1: " $0
        }'
}

# Every question has an answer.
run_clinfo() {
    clinfo --raw | awk '/^\[/ { print /error|<.*>/ ? "failed 1: " $0 : "passed 1" }'
}

run_clblast() {
    timeout 600 "clblast_test_$1" | sed 's/\x1b\[[0-9;]*m//g' |
        awk '$2 == "test(s)" && $1 { print $3, $1 }'
}

# Forth and back, in both precisions.
run_clfft() {
    for more in '' --double --inv '--double -o'; do
        # shellcheck disable=SC2046,SC2086
        timeout 100 clFFT-client -c $(echo "$1" | tr ':' ' ') $more 2>&1 |
            grep -q '\*PASS\*' && echo 'passed 1' || echo "failed 1: $more"
    done
}

run_pygpu() {
    tests=$(dirname "$(dpkg -L python3-pygpu | grep 'pygpu/tests/test_basic.py$')")
    DEVICE=opencl0:0 timeout 900 /usr/bin/python3 -m pytest -q -p no:cacheprovider "$tests/$1.py" |
        tee "$out.log" | tail -n 1 | grep -Eo '[0-9]+ (passed|failed|skipped|error)' |
        awk '{ print $2 == "error" ? "failed" : $2, $1 }'
}

# The forces on molecules, as other processors compute them.
run_openmm() {
    OPENMM_PLUGIN_DIR=$(dirname "$(dpkg -L libopenmm-plugins | grep '/libOpenMMOpenCL.so$')")
    export OPENMM_PLUGIN_DIR
    timeout 600 /usr/bin/python3 -m openmm.testInstallation |
        awk '/vs. OpenCL:/ { print $NF < 1e-4 ? "passed 1" : "failed 1: " $0 }'
}

run() {
    case $1 in
    clinfo) run_clinfo ;;
    clpeak/*) run_clpeak "${1#*/}" ;;
    hashcat/*) run_hashcat "${1#*/}" ;;
    pyopencl) timeout 300 /usr/bin/python3 tests/conformance/pyopencl_algorithms.py ;;
    pygpu/*) run_pygpu "${1#*/}" ;;
    clblast/*) run_clblast "${1#*/}" ;;
    clfft/*) run_clfft "${1#*/}" ;;
    viennacl) timeout 300 "$PROGRAMS/viennacl" ;;
    openmm) run_openmm ;;
    esac
}

[ "$1" != list ] || { list "$2"; exit; }

# Lines "passed N", "failed N", "skipped N" are added up; a test without any has failed.
out=$PROGRAMS/$(echo "$1" | tr '/:' '__')
run "$1" 2>"$out.err" | tee "$out.out" | awk -v name="$1" '
    $1 == "passed" { p += $2 }
    $1 == "failed" { f += $2 }
    $1 == "skipped" { s += $2 }
    END { print name, p + 0, f + (p + f + s == 0), s + 0 }'
