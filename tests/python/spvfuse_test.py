"""spvfuse_test.py KERNELS.cl: what the binding does, with arrays of Python, and of NumPy where that is."""
import array
import gc
import pathlib
import struct
import sys
import tempfile
import unittest

import spvfuse

try:
    import numpy
except ImportError:
    numpy = None

kernels = sys.argv.pop(1)
COUNT = 4096


def members(module, second="add"):
    return [spvfuse.Member(module, "scale", COUNT, 64), spvfuse.Member(module, second, COUNT, 64)]


class Modules(unittest.TestCase):
    def setUp(self):
        self.context = spvfuse.Context()
        self.module = self.context.load(kernels)

    def test_kernels(self):
        scale = self.module.kernels["scale"]
        self.assertEqual([a.name for a in scale.args], ["a", "x", "y"])
        self.assertEqual([a.kind for a in scale.args], ["value", "buffer", "buffer"])
        self.assertEqual((scale.args[0].type_name, scale.args[0].size), ("float", 4))
        self.assertTrue(scale.args[1].read_only)
        self.assertIsNone(scale.refusal)
        self.assertEqual(list(self.module.kernels), ["scale", "add", "slope"])

    def test_emit(self):
        self.assertEqual(self.module.emit()[:4], b"\x03\x02\x23\x07")
        self.assertIn("kernel @slope", str(self.module))
        self.assertEqual(self.module.emit("x86_64:v2")[:4], b"\x7fELF")
        again = self.context.load(self.module.emit(), name="again")
        self.assertEqual(list(again.kernels), list(self.module.kernels))

    def test_optimize(self):
        before = str(self.module)
        self.module.optimize("mem2reg,dce")
        self.module.optimize()
        self.assertNotEqual(str(self.module), before)

    def test_version(self):
        major, minor = spvfuse.version()
        self.assertRegex(spvfuse.library_version(), rf"^{major}\.{minor}\.\d+$")
        features = spvfuse.features()
        self.assertIn("1.2", features["spirv"].split())
        self.assertIn("cpu", features["devices"].split())
        self.assertTrue(features["opencl-c"].startswith("/"), features)

    def test_devices(self):
        devices = {device.name: device for device in self.context.devices()}
        check = devices["check"]
        self.assertTrue(check.usable and "host_memory" not in check.can and "print" in check.can)
        self.assertEqual((check.parallel, check.target, check.vector_bytes), (1, None, 0))
        self.assertGreater(check.memory, 1 << 20)
        cpu = devices["cpu"]
        self.assertEqual(cpu.target, spvfuse.features()["native"])
        self.assertEqual(cpu.version, spvfuse.library_version())
        self.assertEqual(cpu.group_size, (cpu.group_items,) * 3)
        self.assertEqual(cpu.subgroup_sizes, (1, 2, 4, 8, 16, 32, 64))
        for device in devices.values():
            self.assertTrue(device.usable or device.why_not, device)
        opened = self.context.device("cpu:v2,simd=4").info
        self.assertEqual((opened.name, opened.target), ("cpu:v2,simd=4", "x86_64:v2,simd=4"))
        self.assertIn("lanes", opened.can)
        self.assertNotIn("lanes", self.context.device("cpu:simd=1").info.can)
        self.assertEqual(self.context.device("check").info.subgroup_size, 8)

    def test_build(self):
        module = self.context.load(b"kernel void k(global int *x) { *x = N; }", name="k", build="-DN=7")
        self.assertIn("7", str(module))

    def test_errors(self):
        for source in (b"", b"\x7fELF\0", b"kernel void k(", b"nonsense"):
            with self.assertRaises(spvfuse.Error):
                self.context.load(source)
        with self.assertRaisesRegex(spvfuse.Error, "ELF object file"):
            self.context.load(b"\x7fELF\0")
        with self.assertRaisesRegex(spvfuse.Error, "k.cl:1:"):
            self.context.load(b"kernel void k(global int *x) { *x = y; }", name="k.cl")
        with self.assertRaises(spvfuse.Error):
            self.module.emit("no such target")
        with self.assertRaises(OSError):
            self.context.load("nothing.spv")

    def test_fuse(self):
        fusion = self.context.fuse(members(self.module), same=[((0, 2), (1, 0))], internal=[(0, 2)], name="axpy")
        self.assertEqual(fusion.name, "axpy")
        self.assertEqual([p.use for p in fusion.parameters],
                         ["argument", "argument", "promoted", "promoted", "argument", "argument"])
        module = fusion.module
        del fusion
        gc.collect()
        self.assertEqual(list(module.kernels), ["axpy"])
        self.assertEqual(module.emit()[:4], b"\x03\x02\x23\x07")

    def test_refused(self):
        pair, same = members(self.module, "slope"), [((0, 2), (1, 0))]
        with self.assertRaises(spvfuse.Refused):
            self.context.fuse(pair, same=same)
        self.assertIn("fuse.grid", self.context.explain(pair, same=same))
        self.assertIn("k", self.context.explain(members(self.module), same=same))
        with self.assertRaises(ValueError):
            self.context.fuse([spvfuse.Member(self.module, "scale", (1, 2, 3, 4))])


class Running(unittest.TestCase):
    def setUp(self):
        self.context = spvfuse.Context()
        self.module = self.context.load(kernels)
        self.device = self.context.device("cpu")
        self.program = self.device.program(self.module)
        self.x = array.array("f", range(COUNT))
        self.y = array.array("f", [1] * COUNT)
        self.z = array.array("f", [0] * COUNT)

    def check(self, factor):
        self.assertEqual(list(self.z), [factor * x + 1 for x in range(COUNT)])

    def test_queue(self):
        self.device.launch(self.program["scale"], COUNT, 2, self.x, self.z, local=64)
        self.device.launch(self.program["add"], COUNT, self.z, self.y, self.z)
        self.device.finish()
        self.check(2)

    def test_reproducer(self):
        context = spvfuse.Context(remember=2, contents=1 << 20)
        device = context.device("cpu")
        program = device.program(context.load(kernels))
        for factor in (1, 2, 3):
            device.launch(program["scale"], COUNT, factor, self.x, self.z, local=64)
        device.finish()
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name) / "a folder"
            self.assertEqual(context.reproducer(folder), 2)
            self.assertEqual((folder / "saved.log").read_text(), "000002-launch-scale.plan\n000003-launch-scale.plan\n")
            with self.assertRaisesRegex(spvfuse.Error, "remembers nothing"):
                self.context.reproducer(folder)

    def test_prepare(self):
        self.program.prepare("scale", COUNT, 64)
        for kernel, size in (("nothing", COUNT), ("scale", 0)):
            with self.assertRaisesRegex(spvfuse.Error, "spvf_program_prepare"):
                self.program.prepare(kernel, size)

    def test_graph(self):
        between = self.device.internal(4 * COUNT)
        graph = self.device.graph(strict=True)
        first = graph.launch(self.program["scale"], COUNT, 2.0, self.x, between, local=64)
        graph.launch(self.program["add"], COUNT, between, self.y, self.z, local=64)
        graph.commit()
        self.assertEqual(graph.kernels, [(0, 2)])
        self.assertEqual(len(graph.explanations), 1)
        for factor in (1, 2, 3):
            graph.set_value(first, 0, factor)
            graph.run()
            self.check(factor)
        graph.run(wait=False)
        del graph, between
        gc.collect()
        self.device.finish()
        self.check(3)

    def test_graph_refused(self):
        graph = self.device.graph(strict=True)
        d = array.array("f", [0] * COUNT)
        graph.launch(self.program["scale"], COUNT, 2.0, self.x, self.z, local=64)
        graph.launch(self.program["slope"], COUNT - 64, self.z, d, local=64)
        with self.assertRaises(spvfuse.Refused):
            graph.commit()

    def test_wrong(self):
        with self.assertRaises(KeyError):
            self.program["nothing"]
        with self.assertRaises(TypeError):
            self.device.launch(self.program["add"], COUNT, self.x, self.y)
        with self.assertRaises(TypeError):
            self.device.launch(self.program["add"], COUNT, self.x, self.y, bytes(16))
        with self.assertRaises(spvfuse.Error):
            self.device.launch(self.program["add"], 100, self.x, self.y, self.z, local=64)
            self.device.finish()
        with self.assertRaises(spvfuse.Error):
            self.context.device("no such device")

    def test_values(self):
        source = b"""kernel void put(global long *to, char a, uchar b, int c, ulong d, double e, local int *l) {
            to[0] = a; to[1] = b; to[2] = c; to[3] = d; to[4] = as_long(e); l[0] = 1; to[5] = l[0]; }"""
        program = self.device.program(self.context.load(source, build="-cl-std=CL1.2"))
        to = array.array("q", [0] * 6)
        self.device.launch(program["put"], 1, to, -1, 255, -(1 << 31), (1 << 64) - 1, 0.5, 16, local=1)
        self.device.finish()
        self.assertEqual(list(to), [-1, 255, -(1 << 31), -1, 0x3fe << 52, 1])
        for wrong in ((-129, 0, 0, 0, 0.0), (0, 256, 0, 0, 0.0), (0, 0, 1 << 32, 0, 0.0)):
            with self.assertRaises(OverflowError):
                self.device.launch(program["put"], 1, to, *wrong, 16, local=1)
        with self.assertRaises(TypeError):
            self.device.launch(program["put"], 1, to, 0.5, 0, 0, 0, 0.0, 16, local=1)

    def test_vectors(self):
        source = b"""kernel void put(global float *to, float4 a, uint3 b) {
            vstore4(a, 0, to); vstore3(convert_float3(b), 0, to + 4); }"""
        text = str(self.context.load(source, build=""))
        # Without names of types, as SPIR-V of some compilers is.
        for name in ("float4", "uint3", "float*"):
            text = text.replace(f' as "{name}"', "")
        program = self.device.program(self.context.load(text.encode()))
        to = array.array("f", [0] * 8)
        self.assertEqual([(a.type_name, a.numbers, a.floating) for a in program["put"][1].args[1:]],
                         [(None, 4, True), (None, 3, False)])
        self.device.launch(program["put"], 1, to, [1, 2.5, 3, 4], (5, 6, 7))
        self.device.finish()
        self.assertEqual(list(to), [1, 2.5, 3, 4, 5, 6, 7, 0])
        self.device.launch(program["put"], 1, to, array.array("f", [4, 3, 2, 1]), array.array("I", [1, 2, 3]))
        self.device.finish()
        self.assertEqual(list(to), [4, 3, 2, 1, 1, 2, 3, 0])
        for wrong in ([1, 2, 3], [1, 2, 3, 4, 5], 1.0, array.array("d", [1] * 4), None, "four", bytes(15)):
            with self.assertRaises(TypeError):
                self.device.launch(program["put"], 1, to, wrong, (5, 6, 7))

    def test_numbers_without_names(self):
        text = str(self.module).replace(' as "float"', "")
        program = self.device.program(self.context.load(text.encode()))
        self.assertIsNone(program["scale"][1].args[0].type_name)
        self.device.launch(program["scale"], COUNT, 2, self.x, self.z)
        self.device.finish()
        self.assertEqual(self.z[5], 10)

    def test_sizes(self):
        for wrong in (-1, 1 << 64, (COUNT, -1)):
            with self.assertRaises(OverflowError):
                self.device.launch(self.program["scale"], wrong, 2, self.x, self.z)
        for wrong in (-1, 1 << 64):
            with self.assertRaises(OverflowError):
                self.device.internal(wrong)
        for wrong in (4096.0, "4096", None):
            with self.assertRaises((TypeError, ValueError)):
                self.device.launch(self.program["scale"], wrong, 2, self.x, self.z)

    def test_read_only(self):
        ones = struct.pack(f"{COUNT}f", *[1] * COUNT)
        self.device.launch(self.program["add"], COUNT, ones, self.x, self.z)
        del ones
        gc.collect()
        self.device.finish()
        self.assertEqual(self.z[7], 8)
        with self.assertRaisesRegex(TypeError, "writable"):
            self.device.launch(self.program["add"], COUNT, self.x, self.y, bytes(4 * COUNT))
        with self.assertRaisesRegex(TypeError, "writable"):
            self.device.launch(self.program["add"], COUNT, memoryview(self.x).toreadonly(), self.y, self.z)
        self.assertEqual(list(self.context.load(bytearray(b"kernel void k() {}"), build="").kernels), ["k"])

    @unittest.skipIf(numpy is None, "NumPy is missing")
    def test_numbers_of_numpy(self):
        source = b"kernel void put(global double *to, int a, double b, float c) { to[0] = a; to[1] = b; to[2] = c; }"
        program = self.device.program(self.context.load(source, build=""))
        to = numpy.zeros(3)
        for a in (numpy.int16(-1), numpy.int64(-1), numpy.int32(-1)):
            for b in (numpy.float32(0.5), numpy.float16(0.5), numpy.float64(0.5)):
                to[:] = 0
                self.device.launch(program["put"], numpy.int64(1), to, a, b, numpy.uint8(3), local=numpy.int8(1))
                self.device.finish()
                self.assertEqual(list(to), [-1, 0.5, 3])
        for a, wrong in ((numpy.float32(1), TypeError), (numpy.int64(1 << 40), OverflowError)):
            with self.assertRaises(wrong):
                self.device.launch(program["put"], 1, to, a, 0, 0)
        self.device.internal(numpy.int64(64))
        fixed = numpy.ones(COUNT, numpy.float32)
        fixed.flags.writeable = False
        self.device.launch(self.program["add"], COUNT, fixed, self.x, self.z)
        self.device.finish()
        self.assertEqual(self.z[7], 8)

    @unittest.skipIf(numpy is None, "NumPy is missing")
    def test_numpy(self):
        x = numpy.arange(COUNT, dtype=numpy.float32)
        z = numpy.empty_like(x)
        place = z.ctypes.data
        self.device.launch(self.program["scale"], COUNT, numpy.float32(3), x, z)
        self.device.finish()
        self.assertEqual(z.ctypes.data, place)
        self.assertTrue((z == 3 * x).all())
        with self.assertRaises(TypeError):
            self.device.buffer(z[::2])
        x.flags.writeable = False
        with self.assertRaises((TypeError, BufferError)):
            self.device.buffer(x)

    def test_order_of_release(self):
        objects = [self.context, self.module, self.device, self.program]
        for n in range(4):
            context = spvfuse.Context()
            module = context.load(kernels)
            device = context.device("cpu")
            objects = [context, module, device, device.program(module), device.buffer(self.x)]
            del context, module, device
            for k in range(5):
                del objects[(n + k) % len(objects)]
                gc.collect()


unittest.main(verbosity=0)
