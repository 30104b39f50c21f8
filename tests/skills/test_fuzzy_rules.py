from simbench.skills.fuzzy_rules import (
    DISTANCES,
    INPUT_TERMS,
    INPUTS,
    OUTPUTS,
    OWN_RULES,
    RULES,
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
        # Printed for all but rule 17, of which the thesis's example shows that it was not heard.
        printed = 0.7 if rule.conclusion[2] == "XB" else 0.1
        assert rule.priority == (0.0 if rule.number == 17 else printed)
        assert next(each for each in RULES if each.number == rule.number).priority == printed


def test_own_rules_are_told_apart_and_heard_between_the_thesiss():
    assert RULES[:16] + RULES[17:] == THESIS_RULES[:16] + OWN_RULES
    assert [rule.number for rule in RULES] == list(range(1, 20))
    assert all(0.1 < rule.priority < 0.7 for rule in OWN_RULES)


def test_conditions_use_terms_that_exist():
    for rule in RULES:
        assert len({name for name, _ in rule.conditions}) == len(rule.conditions)
        for name, term in rule.conditions:
            assert term in INPUT_TERMS[name]
    assert (*INPUT_TERMS, "ergonomyTrunk") == INPUTS
    assert len(INPUT_TERMS) == 8
    assert all(INPUT_TERMS[name] == ("XS", "S") for name in DISTANCES)
