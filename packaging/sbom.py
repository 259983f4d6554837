#!/usr/bin/env python3
"""What a build was made from, as SPDX 2.3 in JSON on stdout: our version, the Debian packages whose headers or
libraries went into the tool, and what was fetched from npm.

usage: sbom.py BUILD
"""
import datetime
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

BUILD = pathlib.Path(sys.argv[1])
SOURCE = pathlib.Path(__file__).resolve().parents[1]


def packages_of(files):
    """The Debian packages that own these files, with their versions."""
    found = {}
    for file in sorted(files):
        owner = subprocess.run(["dpkg", "-S", file], capture_output=True, text=True).stdout.split(":")[0]
        if owner and owner not in found:
            found[owner] = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", owner], capture_output=True,
                                          text=True).stdout
    return found


def libraries(program):
    lines = subprocess.run(["ldd", program], capture_output=True, text=True).stdout
    return {os.path.realpath(path) for path in re.findall(r"=> (/\S+)", lines)}


def package(name, version, purl, file=None):
    entry = {"SPDXID": "SPDXRef-" + re.sub("[^A-Za-z0-9.-]", "-", name), "name": name, "versionInfo": version,
             "downloadLocation": "NOASSERTION", "licenseConcluded": "NOASSERTION",
             "licenseDeclared": "NOASSERTION", "copyrightText": "NOASSERTION",
             "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                               "referenceLocator": purl}]}
    if file:
        entry["checksums"] = [{"algorithm": "SHA256", "checksumValue": hashlib.sha256(file.read_bytes()).hexdigest()}]
    return entry


version = re.search(r"VERSION (\d+\.\d+\.\d+)", (SOURCE / "CMakeLists.txt").read_text().split("project(")[1])[1]
program = BUILD / "apps/sdm/sdm"
ours = package("sdm", version, f"pkg:generic/sdm@{version}", program)
ours["licenseDeclared"] = "Apache-2.0"
packages = [ours]
headers = {f"/usr/include/{name}" for name in ("eigen3/Eigen/Core", "hwy/highway.h", "nlohmann/json.hpp", "CLI/CLI.hpp",
                                               "fmt/format.h")}
for name, number in packages_of(libraries(program) | headers).items():
    packages.append(package(name, number, f"pkg:deb/debian/{name}@{number}"))
chart = BUILD / "apps/share/sdm/chart.umd.js"
if chart.exists():
    number = re.search(r"chart\.js (\d+\.\d+\.\d+)", (SOURCE / "run").read_text())[1]
    packages.append(package("chart.js", number, f"pkg:npm/chart.js@{number}", chart))
    packages[-1]["licenseDeclared"] = "MIT"
time = datetime.datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", "0")), datetime.timezone.utc)
json.dump({"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"sdm-{version}",
           "documentNamespace": f"urn:sdm:{version}:{ours['checksums'][0]['checksumValue']}",
           "creationInfo": {"created": time.strftime("%Y-%m-%dT%H:%M:%SZ"), "creators": ["Tool: sbom.py"]},
           "packages": packages,
           "relationships": [{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES",
                              "relatedSpdxElement": ours["SPDXID"]}] +
                            [{"spdxElementId": ours["SPDXID"], "relationshipType": "DEPENDS_ON",
                              "relatedSpdxElement": one["SPDXID"]} for one in packages[1:]]}, sys.stdout, indent=1)
print()
