"""What an interpreter says of itself. Run by the target's python with -I -S -B; prints one JSON line; Python 3.6+."""

import json
import os
import platform
import sys
import sysconfig

version = "%d.%d.%d" % sys.version_info[:3]
if sys.version_info[3] != "final":
    version += sys.version_info[3][0] + str(sys.version_info[4])
implementation = "%d.%d.%d" % sys.implementation.version[:3]
if sys.implementation.version[3] != "final":
    implementation += sys.implementation.version[3][0] + str(sys.implementation.version[4])
try:
    libc = os.confstr("CS_GNU_LIBC_VERSION") or ""
except (AttributeError, ValueError, OSError):
    libc = ""
print(
    json.dumps(
        {
            "version": version,
            "executable": os.path.realpath(sys.executable),
            "base_prefix": sys.base_prefix,
            "markers": {
                "implementation_name": sys.implementation.name,
                "implementation_version": implementation,
                "os_name": os.name,
                "platform_machine": platform.machine(),
                "platform_python_implementation": platform.python_implementation(),
                "platform_release": platform.release(),
                "platform_system": platform.system(),
                "platform_version": platform.version(),
                "python_full_version": platform.python_version(),
                "python_version": ".".join(platform.python_version_tuple()[:2]),
                "sys_platform": sys.platform,
            },
            "abiflags": getattr(sys, "abiflags", ""),
            "soabi": sysconfig.get_config_var("SOABI") or "",
            "libc": libc,
            "include": sysconfig.get_paths()["include"],
            "stdlib": sysconfig.get_paths()["stdlib"],
        }
    )
)
