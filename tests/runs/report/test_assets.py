"""The bundle of scripts is that of its sources, and pages may run it only."""

import base64
import hashlib

from simbench.runs.report.page_data import (
    content_policy,
    read_asset,
    sources_digest,
)


def test_the_bundle_was_built_from_these_sources():
    """Otherwise: python scripts/tools/build_report_scripts.py."""
    head = read_asset("report.js").partition("\n")[0]
    assert head.endswith(f"sources {sources_digest()} */")


def test_the_policy_allows_these_scripts_and_no_network():
    policy = content_policy()
    for text in (read_asset("loader.js"), read_asset("report.js")):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none';")
    assert "'unsafe-inline'" not in policy.partition("script-src")[2].partition(";")[0]
