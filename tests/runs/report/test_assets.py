"""The bundle of scripts is that of its sources, and pages may run it only."""

import base64
import hashlib
import json

from simbench.runs.report.page_data import SCRIPTS, content_policy, read_asset, sources_digest


def test_the_bundle_was_built_from_these_sources():
    """Otherwise: python scripts/tools/build_report_scripts.py."""
    head = read_asset("report.js").partition("\n")[0]
    assert head.endswith(f"sources {sources_digest()} */")


def test_versions_are_pinned_and_their_licences_kept():
    package = json.loads((SCRIPTS / "package.json").read_text(encoding="utf-8"))
    versions = {**package["dependencies"], **package["devDependencies"]}
    assert all(version[0].isdigit() for version in versions.values())
    licences = read_asset("licences.txt")
    assert f"three.js {versions['three']}" in licences
    assert f"uPlot {versions['uplot']}" in licences
    assert licences.count("The MIT License") + licences.count("MIT License") >= 2


def test_the_policy_allows_these_scripts_and_no_network():
    policy = content_policy()
    for text in (read_asset("loader.js"), read_asset("report.js")):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none';")
    assert "'unsafe-inline'" not in policy.partition("script-src")[2].partition(";")[0]
