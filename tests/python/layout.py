"""layout.py: prints a program in C that fails if a structure of spvfuse.py is not that of the headers.

Structures that begin with their size may end before those of C do, if what is left out may be zero."""
import spvfuse

names = {"_Message": "spvf_message", "_ContextOptions": "spvf_context_options", "_SpecValue": "spvf_spec_value",
         "_ModuleOptions": "spvf_module_options", "_ArgInfo": "spvf_arg_info", "_KernelInfo": "spvf_kernel_info",
         "_Range": "spvf_range", "_PassOptions": "spvf_pass_options", "_Blob": "spvf_blob",
         "_Member": "spvf_member", "_Identity": "spvf_identity", "_Promotion": "spvf_promotion",
         "_FuseOptions": "spvf_fuse_options", "_ParamInfo": "spvf_param_info", "_FusionInfo": "spvf_fusion_info",
         "_Argument": "spvf_argument", "_Launch": "spvf_launch", "_GraphOptions": "spvf_graph_options",
         "_GraphKernel": "spvf_graph_kernel", "_Capabilities": "spvf_capabilities",
         "_DeviceSizes": "spvf_device_sizes", "_DeviceInfo": "spvf_device_info"}
cut = {"_PassOptions", "_FuseOptions", "_KernelInfo", "_FusionInfo"}
found = {name for name, value in vars(spvfuse).items() if isinstance(value, type)
         and issubclass(value, spvfuse.Structure) and value is not spvfuse.Structure}
assert found == set(names), found ^ set(names)

print('#include <stddef.h>\n#include "runtime/spvfuse_queue.h"')
for name, c in names.items():
    structure = getattr(spvfuse, name)
    if name not in cut:
        print(f'_Static_assert(sizeof({c}) == {spvfuse.ctypes.sizeof(structure)}, "{c}");')
    for field, *_ in structure._fields_:
        place = getattr(structure, field)
        member = field.rstrip("_")
        print(f'_Static_assert(offsetof({c}, {member}) == {place.offset}, "{c}.{member}");')
        print(f'_Static_assert(sizeof((({c} *)0)->{member}) == {place.size}, "{c}.{member}");')
print(f"_Static_assert(SPVF_ERROR_REFUSED == {spvfuse._REFUSED}, \"SPVF_ERROR_REFUSED\");")
print("int main(void) { return SPVF_VERSION_MAJOR * 100 + SPVF_VERSION_MINOR != "
      f"{spvfuse.version()[0] * 100 + spvfuse.version()[1]}; }}")
