"""Fuses and runs compute kernels: a binding of libspvfuse.

    import numpy, spvfuse

    context = spvfuse.Context()
    module = context.load("kernels.cl")             # or SPIR-V, or text of the IR
    print(module.kernels["scale"].args)

    device = context.device("cpu")
    program = device.program(module)
    x = numpy.arange(4096, dtype=numpy.float32)
    y, z = numpy.ones_like(x), numpy.empty_like(x)
    between = device.internal(x.nbytes)             # needed by no other launch
    graph = device.graph()
    graph.launch(program["scale"], 4096, 2.0, x, between)
    graph.launch(program["add"], 4096, between, y, z)
    graph.commit()                                  # both become one kernel
    graph.run()                                     # z is 2 x + y

Arrays are anything with the buffer protocol: NumPy's arrays, array.array, bytearray.  They are not
copied: on device cpu, kernels use the memory of the array itself, which has to be contiguous and
writable.  An array lives at least as long as what it was given to.

Values are numbers of Python or NumPy, which take the type of the argument; a vector is a list or tuple
of them.  Other values, such as structs, are given as bytes, or as an array, of the same size.

Arrays that a kernel only reads may be read-only: those of NumPy, and bytes.

What fails raises Error, with the messages of the library.  Objects release what they hold when they
are collected; they may be used by any thread, but by one at a time.
"""
from __future__ import annotations

import ctypes
import operator
import os
import pathlib
import struct
from ctypes import (CFUNCTYPE, POINTER, Structure, byref, c_bool, c_char, c_char_p, c_int, c_size_t, c_uint32,
                    c_uint64, c_void_p)
from dataclasses import dataclass
from typing import Any, Iterable, Mapping, Sequence, Tuple, Union

__all__ = ["Argument", "Buffer", "Context", "Device", "DeviceInfo", "Error", "Fusion", "Graph", "Kernel", "Member",
           "Module", "Parameter", "Program", "Refused", "features", "library_version", "version"]

# --- the structures of spvfuse.h and spvfuse_queue.h; tests/python/layout.py compares them with C


class _Message(Structure):
    _fields_ = [("severity", c_int), ("file", c_char_p), ("line", c_uint32), ("column", c_uint32),
                ("word", c_uint32), ("source_file", c_char_p), ("source_line", c_uint32), ("text", c_char_p),
                ("formatted", c_char_p), ("explanation", c_void_p), ("fault", c_void_p), ("name", c_char_p)]


_on_message = CFUNCTYPE(None, c_void_p, POINTER(_Message))


class _ContextOptions(Structure):
    _fields_ = [("size", c_size_t), ("allocate", c_void_p), ("release", c_void_p), ("alloc_user", c_void_p),
                ("message", _on_message), ("message_user", c_void_p), ("memory_limit", c_size_t),
                ("remember", c_uint32), ("remember_contents", c_size_t), ("remember_bytes", c_size_t)]


class _SpecValue(Structure):
    _fields_ = [("id", c_uint32), ("value", c_uint64)]


class _ModuleOptions(Structure):
    _fields_ = [("size", c_size_t), ("specs", POINTER(_SpecValue)), ("spec_count", c_size_t),
                ("closures", c_bool), ("specialized", c_void_p), ("specialized_count", c_size_t),
                ("definitions", c_void_p), ("definition_count", c_size_t), ("target", c_char_p),
                ("layout", c_void_p), ("opencl_c", c_char_p)]


class _ArgInfo(Structure):
    _fields_ = [("name", c_char_p), ("type_name", c_char_p), ("kind", c_int), ("size", c_uint64),
                ("align", c_uint32), ("constant", c_bool), ("read_only", c_bool), ("no_alias", c_bool),
                ("specialized", c_bool), ("member", c_bool), ("padding", c_bool), ("closure", c_uint32),
                ("offset", c_uint64), ("special", c_uint32), ("special_arg", c_uint32), ("spilled", c_bool),
                ("used", c_bool), ("access", c_int), ("numbers", c_uint32), ("floating", c_bool)]


class _KernelInfo(Structure):
    _fields_ = [("name", c_char_p), ("args", POINTER(POINTER(_ArgInfo))), ("arg_count", c_size_t),
                ("required_local_size", c_uint32 * 3), ("local_size_hint", c_uint32 * 3),
                ("required_subgroup_size", c_uint32), ("local_memory", c_uint64), ("refusal", c_char_p)]


class _Range(Structure):
    _fields_ = [("dims", c_uint32), ("global_", c_uint64 * 3), ("local", c_uint64 * 3), ("offset", c_uint64 * 3)]


class _PassOptions(Structure):
    _fields_ = [("size", c_size_t), ("passes", c_char_p)]


class _Blob(Structure):
    _fields_ = [("data", c_void_p), ("size", c_size_t), ("context", c_void_p)]


class _Member(Structure):
    _fields_ = [("module", c_void_p), ("kernel", c_char_p), ("range", _Range)]


class _Identity(Structure):
    _fields_ = [("member_a", c_uint32), ("param_a", c_uint32), ("member_b", c_uint32), ("param_b", c_uint32)]


class _Promotion(Structure):
    _fields_ = [("member", c_uint32), ("param", c_uint32), ("kind", c_int), ("accessor", c_bool),
                ("assume", c_bool), ("elements", c_uint64), ("element_size", c_uint32)]


class _FuseOptions(Structure):
    _fields_ = [("size", c_size_t), ("name", c_char_p), ("members", POINTER(_Member)),
                ("member_count", c_size_t), ("identities", POINTER(_Identity)), ("identity_count", c_size_t),
                ("constants", c_void_p), ("constant_count", c_size_t), ("barrier", c_int),
                ("no_optimize", c_bool), ("passes", c_void_p), ("force", c_bool),
                ("promotions", POINTER(_Promotion)), ("promotion_count", c_size_t), ("known_range", c_bool),
                ("phases", c_bool), ("strict", c_bool)]


class _ParamInfo(Structure):
    _fields_ = [("member", c_uint32), ("param", c_uint32), ("kernel", c_char_p), ("name", c_char_p),
                ("use", c_int), ("arg", c_uint32), ("kind", c_int), ("value", c_char_p)]


class _FusionInfo(Structure):
    _fields_ = [("name", c_char_p), ("range", _Range), ("args", c_void_p), ("arg_count", c_size_t),
                ("params", POINTER(POINTER(_ParamInfo))), ("param_count", c_size_t)]


class _Argument(Structure):
    _fields_ = [("buffer", c_void_p), ("offset", c_size_t), ("bytes", c_void_p), ("size", c_size_t),
                ("address", c_void_p)]


class _Launch(Structure):
    _fields_ = [("size", c_size_t), ("program", c_void_p), ("kernel", c_char_p), ("range", _Range),
                ("args", POINTER(_Argument)), ("arg_count", c_size_t), ("alone", c_bool)]


class _GraphOptions(Structure):
    _fields_ = [("size", c_size_t), ("strict", c_bool), ("unfused", c_bool), ("force", c_bool),
                ("barrier", c_int), ("constants", c_bool), ("phases", c_bool)]


class _GraphKernel(Structure):
    _fields_ = [("first", c_size_t), ("count", c_size_t), ("explanation", c_void_p), ("refusal", c_void_p)]


_CAPABILITIES = ("phases", "serial", "lanes", "print", "images", "atomics64", "host_memory", "offsets", "concurrent",
                 "in_order", "watch")


class _Capabilities(Structure):
    _fields_ = [(name, c_bool) for name in _CAPABILITIES] + [("subgroup_size", c_uint32)]


class _DeviceSizes(Structure):
    _fields_ = [("version", c_char_p), ("target", c_char_p), ("parallel", c_uint32), ("vector_bytes", c_uint32),
                ("memory", c_uint64), ("local_memory", c_uint64), ("group_items", c_uint64),
                ("group_size", c_uint64 * 3), ("groups", c_uint64 * 3), ("subgroup_sizes", POINTER(c_uint32)),
                ("subgroup_size_count", c_size_t)]


class _DeviceInfo(Structure):
    _fields_ = [("name", c_char_p), ("description", c_char_p), ("takes_spirv", c_bool), ("usable", c_bool),
                ("why_not", c_char_p), ("can", POINTER(_Capabilities)), ("missing", c_bool),
                ("sizes", POINTER(_DeviceSizes))]


_on_device = CFUNCTYPE(None, c_void_p, POINTER(_DeviceInfo))


def _open() -> ctypes.CDLL:
    """The library of the build in the same clone, that beside which this module was installed, or the one
    that the system finds."""
    above = pathlib.Path(__file__).resolve().parents
    places = [above[2] / "build" / "libspvfuse.so", above[2] / "libspvfuse.so.0"] if len(above) > 2 else []
    found = next((os.fspath(place) for place in places if place.exists()), "libspvfuse.so.0")
    try:
        return ctypes.CDLL(found)
    except OSError as error:
        raise ImportError(f"{error}; LD_LIBRARY_PATH names the folder that has libspvfuse.so.0") from error


_library = _open()
_free = ctypes.CDLL(None).free
_free.argtypes = [c_void_p]


def _declare(name: str, result: Any, *arguments: Any) -> None:
    function = getattr(_library, name)
    function.restype = result
    function.argtypes = list(arguments)


_out = POINTER(c_void_p)
for _name, _result, *_arguments in [
        ("spvf_status_name", c_char_p, c_int),
        ("spvf_version_text", c_char_p),
        ("spvf_feature", c_char_p, c_char_p),
        ("spvf_feature_name", c_char_p, c_size_t, c_void_p),
        ("spvf_context_create", c_int, POINTER(_ContextOptions), _out),
        ("spvf_context_reproducer", c_int, c_void_p, c_char_p, POINTER(c_size_t)),
        ("spvf_module_load", c_int, c_void_p, c_char_p, c_char_p, c_size_t, POINTER(_ModuleOptions), _out),
        ("spvf_module_optimize", c_int, c_void_p, POINTER(_PassOptions)),
        ("spvf_module_kernel_count", c_size_t, c_void_p),
        ("spvf_module_kernel", POINTER(_KernelInfo), c_void_p, c_size_t),
        ("spvf_module_emit", c_int, c_void_p, c_char_p, POINTER(_Blob)),
        ("spvf_blob_destroy", None, POINTER(_Blob)),
        ("spvf_fuse", c_int, c_void_p, POINTER(_FuseOptions), _out),
        ("spvf_explain", c_int, c_void_p, POINTER(_FuseOptions), _out),
        ("spvf_fusion_get_info", POINTER(_FusionInfo), c_void_p),
        ("spvf_fusion_module", c_void_p, c_void_p),
        ("spvf_explanation_text", c_void_p, c_void_p),
        ("spvf_device_open", c_int, c_void_p, c_char_p, _out),
        ("spvf_device_describe", c_int, c_void_p, _on_device, c_void_p),
        ("spvf_devices", c_int, c_void_p, _on_device, c_void_p),
        ("spvf_program_create", c_int, c_void_p, c_void_p, _out),
        ("spvf_program_kernel", POINTER(_KernelInfo), c_void_p, c_char_p),
        ("spvf_program_prepare", c_int, c_void_p, c_char_p, POINTER(_Range)),
        ("spvf_buffer_create", c_int, c_void_p, c_size_t, c_void_p, c_uint32, _out),
        ("spvf_queue_create", c_int, c_void_p, c_void_p, _out),
        ("spvf_queue_launch", c_int, c_void_p, POINTER(_Launch), c_void_p, c_void_p),
        ("spvf_queue_finish", c_int, c_void_p),
        ("spvf_graph_create", c_int, c_void_p, POINTER(_GraphOptions), _out),
        ("spvf_graph_launch", c_int, c_void_p, POINTER(_Launch), POINTER(c_size_t)),
        ("spvf_graph_internal", c_int, c_void_p, c_void_p, c_int),
        ("spvf_graph_commit", c_int, c_void_p),
        ("spvf_graph_kernel_count", c_size_t, c_void_p),
        ("spvf_graph_get_kernel", _GraphKernel, c_void_p, c_size_t),
        ("spvf_graph_run", c_int, c_void_p, c_void_p, c_void_p, c_void_p),
        ("spvf_graph_set_value", c_int, c_void_p, c_size_t, c_size_t, c_void_p, c_size_t)]:
    _declare(_name, _result, *_arguments)
for _name in ("context", "module", "fusion", "explanation", "device", "program", "buffer", "queue", "graph"):
    _declare(f"spvf_{_name}_destroy", None, c_void_p)

_REFUSED = 5  # SPVF_ERROR_REFUSED
Sizes = Union[int, Sequence[int]]
Param = Tuple[int, int]


class Error(Exception):
    """A call has failed; the text has the messages of the library."""


class Refused(Error):
    """The kernels are fine, but cannot be fused."""


def _size(number: Any) -> int:
    """A size, which may be a number of NumPy."""
    size = operator.index(number)
    if not 0 <= size < 1 << 64:
        raise OverflowError(f"{size} is no size: it has to be at least 0, and to have 64 bits")
    return size


def _sizes(sizes: Sizes | None) -> list[int]:
    if sizes is None:
        return []
    return [_size(n) for n in sizes] if hasattr(sizes, "__iter__") else [_size(sizes)]


def _range(size: Sizes, local: Sizes | None) -> _Range:
    sizes, locals_ = _sizes(size), _sizes(local)
    if not 1 <= len(sizes) <= 3 or (locals_ and len(locals_) != len(sizes)):
        raise ValueError("a range has 1 to 3 sizes, and as many local sizes, or none")
    pad = [0] * 3
    return _Range(len(sizes), (c_uint64 * 3)(*(sizes + pad)[:3]), (c_uint64 * 3)(*(locals_ + pad)[:3]))


def _text(explanation: int) -> str:
    text = _library.spvf_explanation_text(explanation)
    result = ctypes.string_at(text).decode() if text else ""
    _free(text)
    return result


class _Handle:
    """A handle of the library, with what it needs to stay alive."""

    _kind = ""

    def __init__(self, context: Context, handle: int | None, *needs: Any) -> None:
        self._context, self._handle, self._needs = context, handle, list(needs)

    def __del__(self) -> None:
        handle, self._handle = getattr(self, "_handle", None), None
        if handle and self._kind:
            getattr(_library, f"spvf_{self._kind}_destroy")(handle)


@dataclass(frozen=True)
class Argument:
    """An argument of a kernel; size is that of a value in bytes, and 0 for others.

    `numbers` is how many a value consists of: 1, those of a vector, or 0 for a struct; `floating` says
    whether they have fractions.  Both are known where `type_name` is None, too."""
    name: str | None
    type_name: str | None
    kind: str
    size: int
    read_only: bool
    numbers: int = 0
    floating: bool = False


_KINDS = ("buffer", "local", "value", "image", "sampler")
_USES = ("argument", "same", "constant", "unused", "promoted")


def _decoded(text: bytes | None) -> str | None:
    return text.decode() if text is not None else None


@dataclass(frozen=True)
class Kernel:
    """What a module says of a kernel; refusal is why it cannot be used, or None."""
    name: str
    args: tuple[Argument, ...]
    refusal: str | None

    @classmethod
    def _of(cls, info: _KernelInfo) -> Kernel:
        args = tuple(Argument(_decoded(a.name), _decoded(a.type_name), _KINDS[a.kind], a.size, a.read_only, a.numbers,
                              a.floating) for a in (info.args[n][0] for n in range(info.arg_count)))
        return cls(info.name.decode(), args, _decoded(info.refusal))


@dataclass(frozen=True)
class DeviceInfo:
    """What a device is, can do and has; None or 0: it is not known, or not limited.

    `can` has the names of spvf_capabilities, such as "phases" and "host_memory".  `parallel` is how many
    threads or multiprocessors run work-groups at the same time, `vector_bytes` the size of a register of
    the processor, `memory` and `local_memory` are bytes.  A group has at most `group_items` work-items,
    and `group_size` along each axis; a launch has at most `groups`.  `target` is what code is made for, with
    its level, as Module.emit takes it: "x86_64:v4"."""
    name: str
    description: str
    usable: bool
    why_not: str | None
    can: frozenset[str]
    version: str | None
    target: str | None
    parallel: int
    vector_bytes: int
    memory: int
    local_memory: int
    group_items: int
    group_size: tuple[int, int, int]
    groups: tuple[int, int, int]
    subgroup_size: int
    subgroup_sizes: tuple[int, ...]

    @classmethod
    def _of(cls, info: _DeviceInfo) -> DeviceInfo:
        can, sizes = info.can[0], info.sizes[0]
        return cls(info.name.decode(), info.description.decode(errors="replace"), info.usable, _decoded(info.why_not),
                   frozenset(name for name in _CAPABILITIES if getattr(can, name)), _decoded(sizes.version),
                   _decoded(sizes.target), sizes.parallel, sizes.vector_bytes, sizes.memory, sizes.local_memory,
                   sizes.group_items, tuple(sizes.group_size), tuple(sizes.groups), can.subgroup_size,
                   tuple(sizes.subgroup_sizes[:sizes.subgroup_size_count]))


class Context:
    """Where modules are read and fused.  `warnings` has the messages of calls that have not failed.

    It remembers the last `remember` launches and fusions, with what buffers of at most `contents` bytes
    held, in at most `remember_bytes` (0: 256 MiB), for `reproducer`."""

    def __init__(self, *, remember: int = 0, contents: int = 0, remember_bytes: int = 0) -> None:
        self.warnings: list[str] = []
        self._messages: list[str] = []
        self._handle: int | None = None

        def on_message(_: Any, message: Any) -> None:
            if message[0].severity:
                self._messages.append(message[0].formatted.decode(errors="replace"))

        self._callback = _on_message(on_message)
        handle = c_void_p()
        options = _ContextOptions(size=ctypes.sizeof(_ContextOptions), message=self._callback, remember=remember,
                                  remember_contents=contents, remember_bytes=remember_bytes)
        self._check(_library.spvf_context_create(byref(options), byref(handle)))
        self._handle = handle.value

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            _library.spvf_context_destroy(self._handle)

    def _check(self, status: int) -> None:
        messages, self._messages[:] = list(self._messages), []
        if status == 0:
            self.warnings += messages
            return
        text = "\n".join(messages) or _library.spvf_status_name(status).decode()
        raise (Refused if status == _REFUSED else Error)(text)

    def reproducer(self, folder: str | os.PathLike[str]) -> int:
        """Writes what is remembered to a folder, as plans that `spvfuse run` repeats; gives their number."""
        plans = c_size_t()
        self._check(_library.spvf_context_reproducer(self._handle, os.fsencode(folder), byref(plans)))
        return plans.value

    def load(self, source: str | os.PathLike[str] | bytes | bytearray | memoryview, *, name: str | None = None,
             specs: Mapping[int, int] | None = None, build: str | None = None) -> Module:
        """Reads a file, or bytes: SPIR-V, text of the IR, a container, or OpenCL C.

        A file whose name ends in .cl is OpenCL C, and so is anything with `build`, the options of
        its compiler.  `specs` are the bits of specialization constants by their ids."""
        given = isinstance(source, (bytes, bytearray, memoryview))
        code = bytes(source) if given else pathlib.Path(source).read_bytes()
        label = name or ("<bytes>" if given else os.fspath(source))
        if build is None and label.endswith(".cl"):
            build = ""
        values = (_SpecValue * len(specs or {}))(*(specs or {}).items())
        options = _ModuleOptions(size=ctypes.sizeof(_ModuleOptions), specs=values, spec_count=len(values),
                                 opencl_c=build.encode() if build is not None else None)
        handle = c_void_p()
        self._check(_library.spvf_module_load(self._handle, os.fsencode(label), code, len(code),
                                              byref(options), byref(handle)))
        return Module(self, handle.value)

    def _fuse_options(self, members: Sequence[Member], same: Iterable[tuple[Param, Param]],
                      internal: Iterable[Param], name: str | None) -> tuple[_FuseOptions, list[Any]]:
        list_ = (_Member * len(members))(*[_Member(m.module._handle, m.kernel.encode(), _range(m.size, m.local))
                                          for m in members])
        pairs = [_Identity(*a, *b) for a, b in same]
        inside = [_Promotion(*p) for p in internal]
        identities = (_Identity * len(pairs))(*pairs)
        promotions = (_Promotion * len(inside))(*inside)
        options = _FuseOptions(size=ctypes.sizeof(_FuseOptions), name=name.encode() if name else None,
                               members=list_, member_count=len(members), identities=identities,
                               identity_count=len(pairs), promotions=promotions, promotion_count=len(inside))
        return options, [list_, identities, promotions]

    def fuse(self, members: Sequence[Member], *, same: Iterable[tuple[Param, Param]] = (),
             internal: Iterable[Param] = (), name: str | None = None) -> Fusion:
        """One kernel of several that run one after another.

        A parameter is a pair: the number of its member, and its own.  `same` lists pairs of
        parameters that are given the same memory, `internal` parameters whose contents nothing else
        needs.  Raises Refused if it is not proved that the kernels may be fused."""
        options, _keep = self._fuse_options(members, same, internal, name)
        handle = c_void_p()
        self._check(_library.spvf_fuse(self._handle, byref(options), byref(handle)))
        return Fusion(self, handle.value, [m.module for m in members])

    def explain(self, members: Sequence[Member], *, same: Iterable[tuple[Param, Param]] = (),
                internal: Iterable[Param] = (), name: str | None = None) -> str:
        """What `fuse` would do, and why not, as text."""
        options, _keep = self._fuse_options(members, same, internal, name)
        handle = c_void_p()
        self._check(_library.spvf_explain(self._handle, byref(options), byref(handle)))
        text = _text(handle.value or 0)
        _library.spvf_explanation_destroy(handle)
        return text

    def devices(self) -> list[DeviceInfo]:
        """The devices of this machine, and for a kind of which it has none an entry that says why."""
        found: list[DeviceInfo] = []
        each = _on_device(lambda _, info: found.append(DeviceInfo._of(info[0])))
        self._check(_library.spvf_devices(self._handle, each, None))
        return found

    def device(self, name: str = "cpu") -> Device:
        """A device with a queue, by a name that `spvfuse devices` lists."""
        handle = c_void_p()
        self._check(_library.spvf_device_open(self._handle, name.encode(), byref(handle)))
        return Device(self, handle.value)


class Module(_Handle):
    """Kernels, as they were read or after passes."""

    _kind = "module"

    @property
    def kernels(self) -> dict[str, Kernel]:
        """By name, in the order of the module."""
        count = _library.spvf_module_kernel_count(self._handle)
        all_ = [Kernel._of(_library.spvf_module_kernel(self._handle, n)[0]) for n in range(count)]
        return {kernel.name: kernel for kernel in all_}

    def optimize(self, passes: str | None = None) -> None:
        """Runs passes, with commas between their names; None: the standard ones."""
        options = _PassOptions(size=ctypes.sizeof(_PassOptions), passes=passes.encode() if passes else None)
        self._context._check(_library.spvf_module_optimize(self._handle, byref(options)))

    def emit(self, target: str = "spirv") -> bytes:
        """The module for a target: "ir", "spirv", "spirv:1.4", "x86_64:v3", "ptx:sm_80" …"""
        blob = _Blob()
        self._context._check(_library.spvf_module_emit(self._handle, target.encode(), byref(blob)))
        code = ctypes.string_at(blob.data, blob.size)
        _library.spvf_blob_destroy(byref(blob))
        return code

    def __str__(self) -> str:
        return self.emit("ir").decode()


@dataclass(frozen=True)
class Member:
    """A kernel to be fused, and the range that it is launched on."""
    module: Module
    kernel: str
    size: Sizes
    local: Sizes | None = None


@dataclass(frozen=True)
class Parameter:
    """What became of a parameter of a member: `use` is "argument", "same" (as an earlier one),
    "constant", "unused" or "promoted"; `argument` is the number of the fused kernel's argument."""
    member: int
    param: int
    kernel: str
    name: str | None
    use: str
    argument: int | None


class Fusion(_Handle):
    """A fused kernel, in a module of its own."""

    _kind = "fusion"

    @property
    def module(self) -> Module:
        module = Module(self._context, _library.spvf_fusion_module(self._handle), self)
        module._kind = ""  # it is the fusion's
        return module

    @property
    def name(self) -> str:
        return _library.spvf_fusion_get_info(self._handle)[0].name.decode()

    @property
    def parameters(self) -> list[Parameter]:
        info = _library.spvf_fusion_get_info(self._handle)[0]
        return [Parameter(p.member, p.param, p.kernel.decode(), _decoded(p.name), _USES[p.use],
                          p.arg if p.arg != 0xffffffff else None) for p in (info.params[n][0] for n in range(info.param_count))]


class Buffer(_Handle):
    """Memory that kernels are given: that of an array, or internal to a graph."""

    _kind = "buffer"
    is_internal = False


class Program(_Handle):
    """A module made ready for a device; program["name"] is a kernel to be launched."""

    _kind = "program"

    def __getitem__(self, name: str) -> tuple[Program, Kernel]:
        info = _library.spvf_program_kernel(self._handle, name.encode())
        if not info:
            raise KeyError(name)
        return self, Kernel._of(info[0])

    def prepare(self, name: str, size: Sizes, local: Sizes | None = None) -> None:
        """Compiles a kernel for launches of this size, so that the first one does not wait for it."""
        range_ = _range(size, local)
        self._context._check(_library.spvf_program_prepare(self._handle, name.encode(), byref(range_)))


def _number(argument: Argument, size: int, value: Any) -> bytes:
    """The `size` bytes of a number, as the kernel takes it."""
    if argument.floating:
        return struct.pack({2: "<e", 4: "<f", 8: "<d"}[size], value)
    if hasattr(value, "is_integer") and not isinstance(value, int):  # a float
        raise TypeError(f"argument {argument.name} is an integer, and cannot be {value!r}")
    number = operator.index(value)
    return number.to_bytes(size, "little", signed=number < 0)


def _plain(value: Any) -> Any:
    """A number of Python for one of NumPy; other values as they are."""
    is_scalar = getattr(value, "shape", None) == () and hasattr(value, "item")
    return value.item() if is_scalar else value


def _value(argument: Argument, value: Any) -> bytes:
    """The bytes of a value as the kernel takes it: of a number, of several, or what is given."""
    value, count = _plain(value), argument.numbers
    element = argument.size // (4 if count == 3 else count) if count else 0
    if count == 1 and isinstance(value, (bool, int, float)):
        return _number(argument, argument.size, value)
    if count > 1 and isinstance(value, (list, tuple)):
        if len(value) != count:
            raise TypeError(f"argument {argument.name} takes {count} numbers, not {len(value)}")
        return b"".join(_number(argument, element, _plain(n)) for n in value).ljust(argument.size, b"\0")
    try:
        code = memoryview(value).tobytes()
    except TypeError:
        wanted = f"{count} numbers" if count > 1 else "a number" if count else "bytes"
        raise TypeError(f"argument {argument.name} takes {wanted}, not {value!r}") from None
    if len(code) not in (argument.size, 3 * element if count == 3 else argument.size):
        raise TypeError(f"argument {argument.name} has {argument.size} bytes, and is given {len(code)}")
    return code.ljust(argument.size, b"\0")


def _read_only_address(array: Any) -> int | None:
    """Of bytes, or of an array of NumPy; None: it is neither."""
    if isinstance(array, bytes):
        return ctypes.cast(c_char_p(array), c_void_p).value
    interface = getattr(array, "__array_interface__", None)
    return interface["data"][0] if interface else None


class Device(_Handle):
    """A device, and a queue on it."""

    _kind = "device"

    def __init__(self, context: Context, handle: int | None) -> None:
        super().__init__(context, handle)
        queue = c_void_p()
        context._check(_library.spvf_queue_create(handle, None, byref(queue)))
        self._queue, self._in_use = queue.value, []

    def __del__(self) -> None:
        if getattr(self, "_queue", None):
            _library.spvf_queue_destroy(self._queue)
            self._queue = None
        super().__del__()

    @property
    def info(self) -> DeviceInfo:
        """What it can do and how large it is, with the options that it was opened with."""
        found: list[DeviceInfo] = []
        answer = _on_device(lambda _, info: found.append(DeviceInfo._of(info[0])))
        self._context._check(_library.spvf_device_describe(self._handle, answer, None))
        return found[0]

    def program(self, module: Module) -> Program:
        """Makes a module ready for the device; it keeps nothing of the module."""
        handle = c_void_p()
        self._context._check(_library.spvf_program_create(self._handle, module._handle, byref(handle)))
        return Program(self._context, handle.value, self)

    def buffer(self, array: Any) -> Buffer:
        """The memory of an array, which is not copied."""
        return self._buffer(array, False)

    def _buffer(self, array: Any, only_read: bool) -> Buffer:
        view = memoryview(array)
        if not view.c_contiguous:
            raise TypeError("an array has to be contiguous: numpy.ascontiguousarray copies one that is not")
        address, keep = _read_only_address(array) if view.readonly and only_read else None, array
        if view.readonly and not address:
            raise TypeError("an array has to be writable, unless it is bytes or NumPy's and kernels only read it")
        if not address:
            keep = (c_char * view.nbytes).from_buffer(view)
            address = ctypes.addressof(keep)
        handle = c_void_p()
        self._context._check(_library.spvf_buffer_create(self._handle, view.nbytes, address, 1, byref(handle)))
        return Buffer(self._context, handle.value, self, keep)

    def internal(self, size: int) -> Buffer:
        """So many bytes, which only launches use, and which a graph need not allocate."""
        handle = c_void_p()
        self._context._check(_library.spvf_buffer_create(self._handle, _size(size), None, 0, byref(handle)))
        buffer = Buffer(self._context, handle.value, self)
        buffer.is_internal = True
        return buffer

    def _launch(self, kernel: tuple[Program, Kernel], size: Sizes, local: Sizes | None,
                args: Sequence[Any]) -> tuple[_Launch, list[Any]]:
        program, info = kernel
        if len(args) != len(info.args):
            raise TypeError(f"kernel {info.name} takes {len(info.args)} arguments, not {len(args)}")
        list_ = (_Argument * len(args))()
        keep: list[Any] = [program, list_]
        for place, argument, given in zip(list_, info.args, args):
            if argument.kind == "value":
                code = ctypes.create_string_buffer(_value(argument, given), argument.size)
                place.bytes, place.size = ctypes.addressof(code), argument.size
                keep.append(code)
            elif argument.kind == "local":
                place.size = _size(given)
            else:
                buffer = given if isinstance(given, Buffer) else self._buffer(given, argument.read_only)
                place.buffer = buffer._handle
                keep.append(buffer)
        launch = _Launch(size=ctypes.sizeof(_Launch), program=program._handle, kernel=info.name.encode(),
                         range=_range(size, local), args=list_, arg_count=len(args))
        return launch, keep

    def launch(self, kernel: tuple[Program, Kernel], size: Sizes, *args: Any, local: Sizes | None = None) -> None:
        """Enqueues a kernel; local memory is given as its size.  The arrays may be used again after
        `finish`."""
        launch, keep = self._launch(kernel, size, local, args)
        self._in_use.append(keep)
        self._context._check(_library.spvf_queue_launch(self._queue, byref(launch), None, None))

    def finish(self) -> None:
        """Waits for all that was enqueued; raises Error if some of it has failed."""
        status = _library.spvf_queue_finish(self._queue)
        self._in_use.clear()
        self._context._check(status)

    def graph(self, *, strict: bool = False, phases: bool = False) -> Graph:
        """Records launches; strict: all have to become one kernel, otherwise commit raises Refused."""
        handle = c_void_p()
        options = _GraphOptions(size=ctypes.sizeof(_GraphOptions), strict=strict, phases=phases)
        self._context._check(_library.spvf_graph_create(self._handle, byref(options), byref(handle)))
        return Graph(self._context, handle.value, self)


class Graph(_Handle):
    """Launches that are recorded once, fused as far as that is proved to be right, and run often."""

    _kind = "graph"

    def launch(self, kernel: tuple[Program, Kernel], size: Sizes, *args: Any, local: Sizes | None = None) -> int:
        """Records a launch, and gives its number."""
        device = self._needs[0]
        launch, keep = device._launch(kernel, size, local, args)
        index = c_size_t()
        self._context._check(_library.spvf_graph_launch(self._handle, byref(launch), byref(index)))
        self._needs.append(keep)
        self._kernels = {**getattr(self, "_kernels", {}), index.value: kernel[1]}
        for given in args:
            if isinstance(given, Buffer) and given.is_internal:
                self._context._check(_library.spvf_graph_internal(self._handle, given._handle, 0))
        return index.value

    def commit(self) -> None:
        """Fuses and compiles; no launch can be added any more."""
        self._context._check(_library.spvf_graph_commit(self._handle))

    @property
    def kernels(self) -> list[tuple[int, int]]:
        """What became of the launches: for each kernel the number of its first one, and how many."""
        count = _library.spvf_graph_kernel_count(self._handle)
        found = [_library.spvf_graph_get_kernel(self._handle, n) for n in range(count)]
        return [(kernel.first, kernel.count) for kernel in found]

    @property
    def explanations(self) -> list[str]:
        """Of each kernel: how it was fused, or why the next launch is not part of it."""
        count = _library.spvf_graph_kernel_count(self._handle)
        found = [_library.spvf_graph_get_kernel(self._handle, n) for n in range(count)]
        return [_text(k.explanation or k.refusal) if k.explanation or k.refusal else "" for k in found]

    def set_value(self, launch: int, arg: int, value: Any) -> None:
        """Another value for the runs to come."""
        code = _value(self._kernels[launch].args[arg], value)
        self._context._check(_library.spvf_graph_set_value(self._handle, launch, arg, code, len(code)))

    def run(self, *, wait: bool = True) -> None:
        """Runs the graph; without `wait`, Device.finish waits for it."""
        device = self._needs[0]
        device._in_use.append(self)
        self._context._check(_library.spvf_graph_run(self._handle, device._queue, None, None))
        if wait:
            device.finish()


def version() -> tuple[int, int]:
    """Of the interface that this module was written for."""
    return 0, 1


def library_version() -> str:
    """Of the library that runs, such as "0.1.0"."""
    return _library.spvf_version_text().decode()


def features() -> dict[str, str | None]:
    """What the library can do on this machine, by name, as spvf_feature of spvfuse.h lists it; None: it
    cannot.  Compilers are looked for, which may take a second."""
    found = {}
    while name := _library.spvf_feature_name(len(found), None):
        found[name.decode()] = _decoded(_library.spvf_feature(name))
    return found
