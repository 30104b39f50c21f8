from simbench.skills.fuzzy_rules import (
    OUTPUTS,
    THESIS_RULES,
)

# Tomić (2018), tables 5.1 to 5.4, typed from the page: conditions => energy velocity ergonomy.
PRINTED = """
1  vShoulderPitch=XS vShoulderYaw=XS vElbowYaw=XB => XB XS XS
2  vShoulderPitch=XS vElbowYaw=XS => XB XS XS
3  vShoulderPitch=XB vElbowYaw=XS => XB XS XS
4  vShoulderPitch=XB vShoulderYaw=XS vElbowYaw=XS => XB XS XS
5  vShoulderPitch=XB vShoulderYaw=M vElbowYaw=XS => XB XS XS
6  vShoulderPitch=M vShoulderYaw=XS vElbowYaw=XB => XB XS XS
7  vShoulderPitch=M vShoulderYaw=XB vElbowYaw=M => XB S XS
8  vShoulderPitch=XS vElbowYaw=XB => XB XS XS
9  vShoulderPitch=M vShoulderYaw=M vElbowYaw=XB vShoulderRoll=M => XB XS XS
10 vTrunkPitch=XB => XB XS XS
11 vShoulderYaw=XB vElbowYaw=XB => XS XB XS
12 vShoulderPitch=XB vElbowYaw=XB => XS XB XS
13 vShoulderPitch=XB vShoulderYaw=XB vElbowYaw=XB => XS XB XS
14 vShoulderPitch=M vShoulderYaw=M vElbowYaw=XB => XS XB XS
15 ergonomyShoulderPitch=S ergonomyShoulderYaw=S ergonomyElbowYaw=S => XS XS XB
16 ergonomyShoulderPitch=XS ergonomyShoulderYaw=XS ergonomyElbowYaw=XS => XS XS XB
17 vShoulderPitch=XS vShoulderYaw=XS vElbowYaw=XB ergonomyElbowYaw=XS => XB XS XB
"""


def test_rules_are_those_printed():
    printed = {}
    for line in PRINTED.strip().splitlines():
        number, *conditions = line.split(" => ")[0].split()
        printed[int(number)] = ({tuple(each.split("=")) for each in conditions}, tuple(line.split()[-3:]))
    assert [rule.number for rule in THESIS_RULES] == list(range(1, 18))
    assert {rule.number: (set(rule.conditions), rule.conclusion) for rule in THESIS_RULES} == printed


def test_ergonomy_has_priority():
    assert OUTPUTS == ("energy", "velocity", "ergonomy")
    for rule in THESIS_RULES:
        assert rule.priority == (0.7 if rule.conclusion[2] == "XB" else 0.1)
