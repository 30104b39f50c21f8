"""What the errors and warnings that users meet mean, and what to do about them."""

import re
from typing import NamedTuple

from simbench.runs.explain.templates import Template, fixed_parts, matches, message_templates

RECORDING, ROBOT, EQUIPMENT = "how_to/recording", "how_to/robot", "how_to/equipment"
ROBOT_MOTION, FOLLOW = "how_to/robot_motion", "how_to/follow_a_walk"
CONTROLLER, CHECKS, CLUSTER = "how_to/controller", "how_to/checks", "how_to/cluster"
SCENARIO, ROBOT_YAML, VIDEO = "reference/scenario", "reference/robot_yaml", "how_to/video"
BALANCE, PLACEMENT = "concepts/balance", "concepts/contact_and_placement"
SKILLS, CALIBRATION = "learn/08_what_did_this_person_minimise", "learn/09_calibrate_an_arm"
RUN = "start/run_directory"
PLUGINS, POLICY = "how_to/plugins", "how_to/policy"


_FEWEST_WORDS, _MOST_WORDS = 3, 0.6
"""Number and fraction of the words of a part of a message that a pattern must have."""


class MessageEntry(NamedTuple):
    """A message, or several that mean the same, with an explanation."""

    family: str  # What it is about: the heading in the reference.
    pattern: str  # Fixed parts of the message, with `…` for values.
    meaning: str
    advice: str  # What to do.
    page: str  # Page of the site that helps.


class ErrorClass(NamedTuple):
    """A class of errors, for messages without an explanation of their own."""

    name: str  # Name of the class in `simbench.errors`.
    meaning: str  # What all its errors have in common.
    advice: str  # What to do.
    page: str  # Page of the site that helps.


_CLASSES = (
    ErrorClass(
        "ScenarioError",
        "A scenario file or an override is missing, malformed or out of range.",
        "The message names the file and line, the key, and what is allowed. `simbench explain KEY` says what "
        "the key means.",
        SCENARIO,
    ),
    ErrorClass(
        "PluginError",
        "Code that a scenario names cannot be loaded, or is not what it has to be.",
        "The message names the code and what is allowed; `simbench list plugins` lists what is installed.",
        PLUGINS,
    ),
    ErrorClass(
        "PolicyError",
        "A policy or its contract cannot be read, does not suit the robot, or returned no action.",
        "The message names file and key; compare the contract with the training run: joints, terms, rate.",
        POLICY,
    ),
    ErrorClass(
        "RobotError",
        "A robot description is missing, inconsistent, or lacks what the task needs.",
        "`simbench robot inspect FILE` lists everything that is wrong with a URDF or a robot.yaml.",
        ROBOT,
    ),
    ErrorClass(
        "MotionError",
        "A recording cannot be read, has gaps, or lacks what retargeting needs.",
        "`simbench motion inspect FILE` shows what was read: unit, axes, limb lengths, jumps.",
        RECORDING,
    ),
    ErrorClass(
        "RetargetError",
        "The motion cannot be transferred to this robot.",
        "Look at the reach first: `simbench place` finds a base placement; `simbench retarget` shows the "
        "plan "
        "without simulating it.",
        PLACEMENT,
    ),
    ErrorClass(
        "LegReachError",
        "The legs cannot keep balance with this motion at this height of the pelvis, nor lower or slower.",
        "Stand with knees more bent (`robot.height_m`), crop the motion, or let the COG follow the hands "
        "less (`retarget.pelvis_follow`).",
        PLACEMENT,
    ),
    ErrorClass(
        "SkillError",
        "A skill cannot be analysed: invalid weights or examples, or a path that the law cannot follow.",
        "Check the span that is analysed and the person's stature and mass.",
        SKILLS,
    ),
    ErrorClass(
        "DynamicsError",
        "An arm's explicit dynamic model cannot be derived or evaluated.",
        "`control.model: own` works for every arm.",
        CONTROLLER,
    ),
    ErrorClass(
        "RunError",
        "A run directory cannot be written, or lacks the requested data.",
        "Check the path; a run writes into a new directory, and an interrupted one ends in `.incomplete`.",
        RUN,
    ),
    ErrorClass(
        "StorageError",
        "A disk is full, read-only or failing, or a directory has vanished.",
        "Make space or choose another `--out`; the same command then goes on.",
        RUN,
    ),
    ErrorClass(
        "BalanceError",
        "Balance cannot be kept with the given gains, supports or steps.",
        "Shorten the steps, bend the knees more, or return to the default gains.",
        BALANCE,
    ),
    ErrorClass(
        "BaselineError",
        "A scenario's baseline is missing, malformed, or cannot be written.",
        "`simbench check --update SCENARIO` measures and writes it.",
        CHECKS,
    ),
    ErrorClass(
        "CalibrationError",
        "An arm cannot be calibrated from these recordings.",
        "Check the columns, the units (rad, m, s) and that the motion excites every joint.",
        CALIBRATION,
    ),
    ErrorClass(
        "StudyError",
        "A study of many runs cannot begin or continue.",
        "A study directory is tied to its arguments, input files and simbench version.",
        CLUSTER,
    ),
    ErrorClass(
        "ValueError",
        "A value is not allowed in combination with others of the same section.",
        "Change the value as the message says.",
        SCENARIO,
    ),
)


def _family(name: str, page: str, *rows: tuple[str, ...]) -> tuple[MessageEntry, ...]:
    """Make the entries of a family; a row may end with a page of its own."""
    return tuple(
        MessageEntry(name, pattern, meaning, advice, own[0] if own else page)
        for pattern, meaning, advice, *own in rows
    )


_CATALOGUE: tuple[MessageEntry, ...] = (
    *_family(
        "Plug-ins and policies",
        PLUGINS,
        (
            "…: no such plug-in of …; allowed: …",
            "No installed package has a plug-in of this name in this group.",
            "`simbench list plugins` lists what is installed; a file is named as ./FILE.py:NAME.",
        ),
        (
            "…: was passed by a program and is in no file; pass it again, or allowed: …",
            "A Python program passed a function of its own; scenario.yaml can only say its name.",
            "Define it at the top level of a file, so that it is recorded as FILE.py:NAME.",
        ),
        (
            "…: … of a plug-in; --no-plugins forbids those",
            "The scenario names code that does not ship with simbench, and `--no-plugins` was given.",
            "Read the code, then run without `--no-plugins`.",
        ),
        (
            "…: has no …; it has: …",
            "The module or file was found, and defines nothing of this name.",
            "Take one of the names that it has.",
        ),
        (
            "…: takes other arguments; allowed: (…)",
            "A plug-in is called with the arguments of its group.",
            "Change the function as the message says.",
        ),
        (
            "…: torques of shape …; allowed: (…,), one for each joint",
            "A control law returned too many or too few torques.",
            "Return one number for each joint, in the order of `robot.joint_names`.",
            CONTROLLER,
        ),
        (
            "…: an action of shape …; allowed: (…,), one for each joint",
            "A policy returned too many or too few numbers.",
            "Compare `joints` of the contract with the training run.",
            POLICY,
        ),
        (
            "…: rate_hz: …; allowed: … Hz of the physics divided by a whole number",
            "A policy acts after a whole number of physics steps.",
            "Change `rate_hz` of the contract, or `simulation.timestep_s`.",
            POLICY,
        ),
        (
            "…: unknown term ……; allowed: …",
            "The contract observes something that simbench does not know by this name.",
            "Take a term of the list.",
            POLICY,
        ),
        (
            "…: … has the shape …; the contract's is …",
            "The ONNX graph was made for another observation or another number of joints.",
            "Compare the terms of the contract, their order and history with the training run.",
            POLICY,
        ),
    ),
    *_family(
        "Following a person's steps",
        FOLLOW,
        (
            "retarget.physics: steps: …: the recording lacks …; allowed: stand",
            "Hips, knees or ankles are not recorded, so that nobody knows when the feet stand.",
            "Use a recording of the whole body, or leave `retarget.physics` at `stand`.",
        ),
        (
            "retarget.physics: steps: …: the person is not on their feet at … s, …; allowed: stand, or "
            "another part of it (motion.start_s, motion.end_s)",
            "The person lies, rolls, crawls or stands on the hands: the robot walks on its feet only.",
            "Cut that part out with `motion.start_s` and `motion.end_s`.",
        ),
        (
            "retarget.physics: steps: …: the person stands at heights that differ by … m, … m from the first "
            "at … s: stairs, a step or a slope; allowed: a level floor",
            "The feet carry the person at heights that differ by more than 10 cm, and neither a floor tilted "
            "by up to 5 degrees nor heights that drift at a constant speed explain them.",
            "Cut that part out with `motion.start_s` and `motion.end_s`.",
        ),
        (
            "retarget.physics: steps: … cannot follow …: …; allowed: stand",
            "Even with shorter steps the legs would leave their limits or touch each other; the message says "
            "which, and what was changed already.",
            "Try a slower tempo (`motion.speed`), a part of the recording, or a robot with faster legs.",
        ),
        (
            "physics `…`: … has a fixed base; allowed: stand",
            "`simbench retarget --physics steps` plans footsteps, which an arm on a fixed base has none of.",
            "Leave out `--physics`, or choose a robot with legs.",
        ),
        (
            "physics `…`: …: hands hold equipment; allowed: stand, or free motion (--free)",
            "A robot that steps holds nothing: where its hands are follows from its steps.",
            "Leave the equipment out with `--free`, or leave out `--physics`.",
        ),
        (
            "--picture: physics `…` of … has no scaled model to draw; allowed: --beside",
            "The picture shows the scaled model on a root that neither turns nor leans.",
            "Draw the robot beside the person with `--beside`.",
        ),
        (
            "retarget.steps_strict: …: …; allowed: steps that … can take as the person did",
            "A step of the person had to be changed, and the scenario asks for none to be.",
            "Leave `retarget.steps_strict` out to take the nearest steps; each change is told.",
        ),
    ),
    *_family(
        "Scenario files",
        SCENARIO,
        (
            "unknown key…; allowed: …",
            "The section has no key of this name. Units are part of names: `mass_kg`, not `mass` or "
            "`mass_g`.",
            "Use one of the allowed keys. An editor that reads the file's `yaml-language-server` line "
            "completes "
            "them.",
        ),
        (
            "required key is missing",
            "A key without a default value was left out.",
            "Add the key; `simbench explain KEY` says what it means.",
        ),
        (
            "must be greater than …",
            "The value is below the range of the key.",
            "Use a value in the range. Check the unit, which the key's name ends with.",
        ),
        (
            "must be less than or equal to …",
            "The value is above the range of the key. For a length, mass or angle the usual reason is a "
            "wrong "
            "unit: millimetres, grams or degrees instead of m, kg and rad.",
            "Convert the value to the unit that the key's name ends with.",
        ),
        (
            "must be a valid number",
            "The value is text, not a number. A unit is never written with the number: it is part of the "
            "key's "
            "name.",
            "Write the number alone, such as `mass_kg: 2.5`.",
        ),
        (
            "must be a valid integer",
            "The key needs a whole number.",
            "Write it without a decimal point.",
        ),
        (
            "must be a valid string",
            "The key needs text.",
            "Put the value in quotes if it looks like a number.",
        ),
        (
            "must be a section with the keys: …",
            "A single value stands where a section with keys belongs.",
            "Indent the section's keys below its name.",
        ),
        (
            "must be one of …",
            "The value is not one of a fixed list; for `type` of a fixture: there is no such fixture.",
            "Use one of the listed values.",
        ),
        (
            "must be …, got …",
            "The value is not one that the key allows.",
            "Use one of the listed values. `motion.unit` for example takes `m`, `cm`, `mm`, `in` or `cmu`.",
        ),
        (
            "duplicate key '…', first given in line …",
            "The same key stands twice in one section; which one counts would be unclear.",
            "Remove one of the two lines.",
        ),
        (
            "not valid YAML: …",
            "The file does not follow YAML's syntax, for example because of a tab or a missing space after a "
            "colon.",
            "Correct the named line.",
        ),
        (
            "not valid YAML: tag …; tags are not allowed",
            "A value has an explicit type, such as `!!int`. Types follow from how the values are written.",
            "Remove the tag; write text that looks like a number in quotes.",
        ),
        (
            "a second document begins here; a file has one",
            "A line `---` separates two documents in one file.",
            "Write them into two files.",
        ),
        (
            "nested more than … deep",
            "Lists and sections are nested deeper than any file of simbench needs.",
            "Check the brackets and the indentation at the named place.",
        ),
        (
            "not valid JSON: …",
            "The file does not follow JSON's syntax, gives a name twice, or has a number that is not finite.",
            "Restore the file, or make it again with the command that wrote it.",
        ),
        (
            "not a text file in UTF-8…",
            "The file is binary, or text in another encoding.",
            "Save it in UTF-8.",
        ),
        (
            "simulation: would take … steps of … s; at most … with … joints",
            "The reference of all physics steps would not fit into memory.",
            "Shorten the motion and the times to settle and hold, or use a longer `simulation.timestep_s`.",
        ),
        (
            "must hold 'key: value' lines, not …",
            "The file is YAML, but a list or a single value.",
            "A scenario begins with `name: …` and `motion:`; `simbench list scenarios` names examples.",
        ),
        (
            "unknown scenario '…'…; available: …",
            "There is neither a shipped scenario nor a file of this name.",
            "Use one of the listed names, or the path of a file ending in `.yaml`.",
        ),
        (
            "…: must be key=value, for example seed=1",
            "The override has no `=`.",
            "Write `--set section.key=value`, without spaces around `=`.",
        ),
        (
            "…: '…' must be an index of '…', …",
            "A list such as `fixtures` is addressed by number, counted from 0.",
            "Write for example `--set fixtures.0.mass_kg=3`.",
        ),
        (
            "…: '…' is a single value, not a section",
            "The override addresses a key below a value that has no keys.",
            "Shorten the key to the one that holds the value.",
        ),
        (
            "1 / simulation.timestep_s (…) must be a whole multiple of …",
            "Samples of the log and ticks of balance fall on physics steps, so their rates must divide the "
            "physics rate.",
            "With `timestep_s: 0.001` rates of 10, 20, 25, 40, 50, 100, 200, 250, 500 and 1000 Hz are "
            "possible.",
        ),
        (
            "must be at most travel_m, …",
            "A drawer cannot be further open at the start than it opens.",
            "Decrease `start_opening_m` or increase `travel_m`.",
            EQUIPMENT,
        ),
        (
            "fixtures must have different names, got …",
            "Names of fixtures are used in metrics and logs.",
            "Give each fixture a `name` of its own.",
            EQUIPMENT,
        ),
        (
            "must give min, max or both",
            "A check without bounds checks nothing.",
            "Write `{min: …}`, `{max: …}` or both; for a metric that is true or false write the value.",
            CHECKS,
        ),
        (
            "min must be at most max",
            "No value could satisfy the check.",
            "Exchange the two bounds.",
            CHECKS,
        ),
        (
            "…: checks.…: unknown metric…; `simbench explain METRIC` describes those of a run",
            "No run of this scenario measures it: the name is misspelt, or names a fixture or a joint of a "
            "fixture that the scenario does not have.",
            "Write the name as in the table of a run; the message proposes the nearest one.",
        ),
        (
            "motion.task.…: unknown key; allowed: …",
            "The task that the motion's source names has no such key.",
            "Use one of the allowed keys. Tasks with a prismatic joint have `stroke_m`, others `stroke_rad`.",
        ),
        (
            "motion.task.…: … takes no keys; an actor:<task> on a fixture of that type does",
            "Only an actor who works on a fixture of the scenario can be told how to work; a file is as it "
            "is.",
            "Remove section `task`, or add a fixture of the task's type.",
        ),
        (
            "…: to run a robot's motion, say of which robot: --robot NAME …",
            "`simbench run FILE` with a table or an archive runs a robot's motion, and the file does not say "
            "of which robot.",
            "Add `--robot NAME`. For a person's recording, write a scenario with it as `motion.source`.",
            ROBOT_MOTION,
        ),
        (
            "…: a person's recording; `simbench retarget …` makes a robot's motion of it, …",
            "`simbench run` takes scenarios and robots' motions, and this is the recording of a person.",
            "Retarget it, or write a scenario with it as `motion.source`.",
            RECORDING,
        ),
        (
            "…: motion.source …FILE uses none",
            "A robot's trajectory is followed as it is: without equipment, commanded steps or pushes.",
            "Remove the section.",
            ROBOT_MOTION,
        ),
        (
            "motion.source …: needs a fixture of type …",
            "The actor performs on the scenario's own equipment, which is missing.",
            "Add a fixture of that type to `fixtures`.",
            EQUIPMENT,
        ),
        (
            "fixtures: a robot whose robot.posture is … sits on one stool; got …",
            "A seated robot needs exactly one seat.",
            "Add one fixture of type `stool`.",
            EQUIPMENT,
        ),
        (
            "fixtures: … is …; allowed: 0 to … mm below them",
            "The seat does not touch the thighs of the seated robot.",
            "Change the stool's `height_m` or `position_m`.",
            EQUIPMENT,
        ),
        (
            "stepping: hands keep to fixtures only where the robot stands; allowed: one of both",
            "A robot that walks cannot hold equipment at the same time.",
            "Remove section `stepping` or the fixtures.",
            BALANCE,
        ),
        (
            "control.law: computed_torque needs a fixed base; … floats",
            "Computed torque is available for arms on a fixed base only.",
            "Use `control.law: pd`.",
            CONTROLLER,
        ),
        (
            "control.…needs control.model: explicit or abbreviated",
            "Rates of the model's elements exist for explicit models only.",
            "Set `control.model`, or remove the key.",
            CONTROLLER,
        ),
        (
            "retarget.…: says nothing to …, whose base is fixed; allowed: …",
            "The key is about legs or about imitating a body; an arm has neither.",
            "Remove the key.",
        ),
        (
            "…: … …; allowed: a robot on two legs",
            "Steps and pushes need a standing robot.",
            "Choose a humanoid with `robot.posture: standing`, or remove the section.",
            BALANCE,
        ),
    ),
    *_family(
        "Recordings",
        RECORDING,
        (
            "…: no known unit gives the body a human height (…); declare its size: --scale, or --height and "
            "--unit",
            "The bones have human lengths in none of the units that simbench knows: the body is a character "
            "of another size, or the marker map takes other points for its joints.",
            "Give `--height 1.7` (m), or the factor with `--scale`; without `--strict` the body is scaled to "
            "1.7 m and that is said.",
        ),
        (
            "…: the person is … m tall by the bones with lengths in …; people are … to … m; …",
            "With the declared unit the person would have an implausible body size: the unit is wrong, or "
            "the marker map assigns the wrong markers.",
            "Declare the right unit with `--unit`, or none: the unit is then found from the body. `--height` "
            "scales a character of another size.",
        ),
        (
            "…: read by the marker map …, …; declare another map (--map); …",
            "The names of the points fit the marker map, and the body that it gives has proportions or "
            "frames that no human body has.",
            "Let `simbench motion map FILE` write a map to begin with, correct it, and name it with `--map`.",
        ),
        (
            "…: the vertical axis is not declared, …; declare it (--up)",
            "The file does not say which axis points up, and the body does not show it.",
            "Give `--up z` (or another of x, y, z, -x, -y, -z), or `motion.up` in the scenario; without "
            "`--strict` the likeliest axis is taken and that is said.",
        ),
        (
            "…: … is declared vertical, yet the trunk points along …",
            "The declared vertical axis does not agree with the direction of the trunk.",
            "Declare the axis along which the trunk points; if the person lies, repeat the file's own axis "
            "with "
            "`--up`.",
        ),
        (
            "…: the body faces backward in … of the frames: …",
            "Left and right are exchanged, or the coordinate system is left-handed, so the body appears "
            "mirrored.",
            "Exchange the sides in the marker map, or negate one axis before reading the file; without "
            "`--strict` the sides are exchanged and that is said.",
        ),
        (
            "…: marker … is not seen from frame … to frame …; gaps up to … s are filled…",
            "A marker was hidden for longer than simbench interpolates.",
            "Fill the gap in the capture software, crop it away (`motion.start_s`, `motion.end_s`), or allow "
            "longer gaps with `--longest-gap` or `motion.longest_gap_s`.",
        ),
        (
            "a pickle that names … is not read; allowed: arrays, numbers, texts, lists and dicts",
            "A pickle may run any program when it is loaded. simbench reads only data from it, and this one "
            "names something else.",
            "Save the arrays as `.npz` with the program that wrote the pickle.",
            "how_to/smpl",
        ),
        (
            "…: a … model (… joints), but the poses are those of … (… joints); give the file of a … model",
            "The body model of `--body-model` is another one of the SMPL family than that of the recording.",
            "Give the model file with the joints of the poses.",
            "how_to/smpl",
        ),
        (
            "joint places approximate: no body model (--body-model); bone lengths are those of an average "
            "person … m tall…",
            "The recording holds rotations and a translation; the joint places are of an average person.",
            "Give your body model file with `--body-model`, or the person's height with `--height`.",
            "how_to/smpl",
        ),
        (
            "no arm can be used: the … needs marker …",
            "A marker that an arm needs is lost for long, and neither its segment's other markers nor the "
            "limb bridge it.",
            "Fill the gap in the capture software, or crop the recording.",
        ),
        (
            "no complete arm: markers are missing (…)…",
            "The recording has no marker at an elbow or a wrist of either arm.",
            "Let simbench estimate them with `--estimate`, if an elbow or a wrist is all that is missing.",
        ),
        (
            "no marker map fits its names",
            "The file's markers or joints have names that no ready marker map knows.",
            "Write a marker map, a YAML file that says which of your points are which joints, and give it "
            "with `--map FILE`; a map that comes close is a good start.",
        ),
        (
            "…: no human skeleton: …",
            "The joints of the file are not those of a person, by their names, their tree and the lengths of "
            "their bones.",
            "Choose a file of a person, or write a marker map: `simbench motion map` of a similar file is a "
            "start; give it with `--map FILE`.",
        ),
        (
            "; … comes closest and lacks …",
            "A ready marker map nearly fits; these of its points are not in the file.",
            "Copy that map, leave out or replace the missing points, and give the copy with `--map FILE`.",
        ),
        (
            "…; ready maps: …; declare one, or the path of your own YAML file, as the marker map (--map)",
            "No marker map fits the names in the file, or several do.",
            "Choose a map with `--map NAME`, or write a YAML file that says which markers are which joints.",
        ),
        (
            "marker map …: unknown; known: …, or the path of a .yaml file",
            "There is no marker map of this name.",
            "Use one of the listed names, or the path of your own map.",
        ),
        (
            "…: no complete arm: the recording does not give …",
            "Retargeting needs shoulder, elbow and wrist of at least one arm.",
            "Check that the marker map has the names that the file uses for the missing joints.",
        ),
        (
            "…: the recording lacks …; retargeting needs both arms",
            "A humanoid follows both arms, and one is missing or incomplete.",
            "Record both arms, or use a robot with one arm.",
        ),
        (
            "…: the subject has no frameRate; declare it (--fps)",
            "The MVNX file does not say its sampling rate.",
            "Give it with `--fps`.",
        ),
        (
            "…: not MVNX, whose outermost element is mvnx",
            "The file is XML of another kind.",
            "Export the recording from MVN as MVNX.",
        ),
        (
            "…: no line that begins with Frame,Time (Seconds) in the header of Motive",
            "The header of Motive's export is not whole.",
            "Export the take again, with its header.",
        ),
        (
            "…: neither bones nor labelled markers of a person, but …",
            "The table of Motive holds rigid bodies or unlabelled markers only.",
            "Export the skeleton's bones, or label the markers.",
        ),
        (
            "…: the file has no times; declare its rate (--fps)",
            "A table of named positions has no column of times, and its rate must not be assumed "
            "with `--strict`.",
            "Give the rate with `--fps`.",
        ),
        (
            "…: the file does not say its unit of length; declare it (--unit)",
            "Nothing in the table says its unit, and it must not be assumed with `--strict`.",
            "Give the unit with `--unit`.",
        ),
        (
            "…: the file does not say its rate; declare it (--fps)",
            "An array of joints has no rate beside it, and it must not be assumed with `--strict`.",
            "Give the rate with `--fps`.",
        ),
        (
            "…: no array of joint positions (frames, joints, 3), called …",
            "The archive or pickle holds neither parameters of SMPL nor positions of joints.",
            "Rename the array as the message says, or save it alone.",
        ),
        (
            "…: an array of shape …; joints have the shape (frames, joints, 3)",
            "The array's dimensions are not those of joint positions.",
            "Reshape or transpose it before it is saved.",
        ),
        (
            "…: the limbs hang on … roots (…), which no joint connects; …",
            "Arms and legs belong to different trees of joints, so that their places in the rest "
            "pose are unknown.",
            "Export the whole skeleton with its hips, or give a map with `--map FILE`.",
        ),
        (
            "…: a damaged archive of arrays (…)",
            "An `.npz` file is incomplete, or was changed.",
            "Copy or write the file again.",
        ),
        (
            "…: not a pickle of arrays, or a damaged one (…)",
            "The file is no pickle, incomplete, or has instructions that data do not need. Nothing "
            "of it was run.",
            "Save the arrays with `numpy.savez`.",
        ),
        (
            "…: … columns without names, which leaves … for joints; …",
            "A table without a header is read by the number of its columns, and it does not fit this robot.",
            "Check `--robot`, or name the columns with `--joint-order FILE`.",
            ROBOT_MOTION,
        ),
        (
            "…: … joints without names; … has … joints…; give the names …",
            "The number of the file's joints is not that of the robot.",
            "Check `--robot`, or name them with `--joint-order FILE`.",
            ROBOT_MOTION,
        ),
        (
            "…: no column of a joint; name the columns after the robot's joints",
            "The header names none of the robot's joints.",
            "Rename the columns, or give `--joint-order FILE`.",
            ROBOT_MOTION,
        ),
        (
            "…: not a table of numbers: …",
            "A line has another number of columns, or a value is no number.",
            "Correct the line.",
            ROBOT_MOTION,
        ),
        (
            "…: no joint positions among …; allowed: …",
            "The archive or pickle holds no array of joint positions.",
            "Rename the array to one of the allowed names.",
            ROBOT_MOTION,
        ),
        (
            "…: a person's recording (…), not a robot's motion; …",
            "The file holds parameters or joints of a person.",
            "Retarget it first: `simbench retarget FILE --robot NAME`.",
            ROBOT_MOTION,
        ),
        (
            "…: no … of the base; its pose needs both, or neither",
            "Position or orientation of the base is missing.",
            "Add the missing array.",
            ROBOT_MOTION,
        ),
        (
            "…: no samples; there must be at least one",
            "The file has columns or arrays without rows.",
            "Write the file again.",
            ROBOT_MOTION,
        ),
        (
            "…: give the robot whose motion it is with --robot NAME (simbench robot list)",
            "A file of joint positions does not say whose they are.",
            "Add `--robot NAME`.",
            ROBOT_MOTION,
        ),
        (
            "--out keeps the simulated run, which --no-run leaves out; give one of them",
            "Without the simulated run there is nothing to keep.",
            "Leave out `--no-run` or `--out`.",
            ROBOT_MOTION,
        ),
        (
            "joint … moves … times as fast as its limit at … s; at most … times is read as a motion: …",
            "The numbers are no motion of this robot.",
            "Positions must be in radians and joints in the robot's order (`motion.joint_order`); a wrong "
            "rate (`motion.fps`) makes everything too fast.",
            ROBOT_MOTION,
        ),
        (
            "the base is … m from the origin at … s; at most … m is read as a motion: …",
            "The base's position is not in metres, or a column is no position.",
            "Convert it to metres, or check the order of the columns.",
            ROBOT_MOTION,
        ),
        (
            "the base moves at … m/s at … s; at most … m/s is read as a motion: …",
            "The base jumps: two takes in one file, positions in centimetres, or a wrong rate.",
            "Cut the file (`motion.start_s`, `motion.end_s`), convert it, or give `motion.fps`.",
            ROBOT_MOTION,
        ),
        (
            "…: cannot stand where the trajectory has its feet, … m apart; …",
            "Before and after a trajectory the robot rests on both feet where it begins and ends; its legs "
            "do not reach that far.",
            "Begin or end it elsewhere with `motion.start_s` or `motion.end_s`.",
            ROBOT_MOTION,
        ),
        (
            "…: no reader for …; give …, or a file ending in …",
            "The suffix of the name says the format, and this one is not read.",
            "Convert the file to one of the listed formats.",
        ),
        (
            "…: unknown motion source …; known: …, or a file's path",
            "What stands before the colon is no kind of source.",
            "Use `actor:TASK`, `deepmimic:CLIP` or the path of a file; `simbench list motions` lists them.",
        ),
        (
            "…: no such file",
            "There is no file at this path.",
            "Check the path; a scenario's files are looked for beside the scenario, then in the current "
            "directory.",
        ),
        (
            "…: cannot be read: …",
            "The operating system refuses to read the file.",
            "Check the path and the permissions.",
            RUN,
        ),
        (
            "actor:…: unknown task; known: …",
            "Virtual actors do not perform this task.",
            "`simbench list tasks` lists the tasks.",
        ),
        (
            "deepmimic:…: unknown clip; known: …",
            "PyBullet ships no clip of this name.",
            "`simbench list motions` lists the clips.",
        ),
        (
            "…: time … at frame … it must increase strictly",
            "Two frames have the same or a decreasing time.",
            "Remove the repeated frames.",
        ),
        (
            "…: … NaN or infinite…; every sample must be a finite number",
            "A coordinate is missing where it is needed.",
            "Fill gaps before reading, or crop the recording.",
        ),
        (
            "…: joints … and … coincide…; they must be apart",
            "Two joints of a limb are at the same point, so the limb has no direction: often markers with "
            "the "
            "same data, or points at the origin for hidden markers.",
            "Correct the marker map, or mark hidden points as missing.",
        ),
        (
            "…: the two directions that the marker map gives for the frame … are parallel …",
            "The two directions of a recipe lie on one line, so the rotation about it is unknown: often a "
            "name written twice, or markers with the same data.",
            "Correct the recipe in the marker map: choose points that do not lie on one line.",
        ),
        (
            "…: the … is … m long; allowed … to … m…",
            "A limb has a length that no adult has: a wrong unit or wrong markers.",
            "Declare the unit (`--unit`), or correct the marker map.",
        ),
        (
            "…: the …'s joints are so far off at frame …; look for swapped markers there",
            "Around this frame no limb of constant length fits the joints.",
            "Look at the frame in the capture software and exchange the swapped markers.",
        ),
        (
            "…: … frame(s) found; a motion needs at least 2 frames",
            "The file holds at most one pose.",
            "Export the whole motion.",
        ),
        (
            "…: … samples at … Hz are too short to follow; at least … are needed",
            "The part that is used is shorter than four samples.",
            "Widen `motion.start_s` … `motion.end_s`, or increase `motion.rate_hz`.",
        ),
        (
            "…: nothing between … and … s; it lasts … s",
            "`motion.start_s` and `motion.end_s` lie outside the recording.",
            "Choose times inside it; `motion.speed` changes its duration first.",
        ),
        (
            "…; a BVH file begins with HIERARCHY",
            "The file is not a BVH file, whatever its suffix.",
            "Export as BVH again, or rename the file.",
        ),
        (
            "…: longer than … characters; no BVH file",
            "A line is longer than that of ten thousand joints: the file is damaged, or something else.",
            "Export as BVH again, or rename the file.",
        ),
        (
            "…: no MOTION up to here; it is no BVH file",
            "The part before the frames is longer than that of ten thousand joints.",
            "Export as BVH again, or rename the file.",
        ),
        (
            "…: … joints in … frames; at most … poses are read",
            "The poses of the joints that are kept would take more memory than is planned for them.",
            "Cut the recording into parts, or leave joints out that never move.",
        ),
        (
            "…: … frames are declared, but … lines of numbers follow",
            "The BVH file is truncated, or its `Frames:` line is wrong.",
            "Export the file again.",
        ),
        (
            "…: truncated: …",
            "The file ends before the data that its header announces.",
            "Copy or export the file again.",
        ),
        (
            "…: not a C3D file, whose first bytes are 2 and 80…",
            "The file is not a C3D file, whatever its suffix.",
            "Export as C3D again, or rename the file.",
        ),
        (
            "the frame rate is … Hz by the header and … Hz by the parameters; …",
            "Two places of the C3D file disagree, or neither holds a rate.",
            "Declare the rate with `--fps`, or correct POINT:RATE in the capture software.",
        ),
        (
            "…: none of … points has a label; a marker needs a name",
            "The C3D file has unlabelled points only.",
            "Label the markers in the capture software.",
        ),
        (
            "…: not a TRC file, which begins with PathFileType and has … lines",
            "The file is not a TRC file, whatever its suffix.",
            "Export as TRC again.",
        ),
        (
            "DataRate is … Hz, the time column has … Hz; they must agree to …",
            "Header and time column of the TRC file disagree.",
            "Correct `DataRate` in line 3, or the time column.",
        ),
        (
            "…begins with …; the first column must be time_s",
            "The CSV file is not one that simbench writes: its columns are time, joints and segments.",
            "Write such a file with `simbench motion export`, and use it as an example.",
        ),
        (
            "…: damaged: its … bytes do not give the checksum at its end",
            "The file was changed or truncated after simbench wrote it.",
            "Copy it again.",
        ),
        (
            "actor …: the … wrist cannot reach … m with a lean of … degrees; …",
            "The equipment is further away than the virtual person reaches.",
            "Bring the equipment nearer, or change its height.",
            EQUIPMENT,
        ),
        (
            "actor …: the task needs … degrees of …; a person has … to …: …",
            "At this place the equipment would need a joint angle that people do not have.",
            "Change the equipment's distance, height or handle separation.",
            EQUIPMENT,
        ),
        (
            "…: the person's stature is needed for the masses of the body…",
            "Masses of the body's segments are computed from stature and mass, which the file does not hold.",
            "Give `--height`, in m.",
            SKILLS,
        ),
        (
            "…: jump between frames … and …, at … m/s; no person is faster than … m/s",
            "A warning: a marker moves impossibly fast between two frames, usually because it was swapped "
            "with "
            "another one.",
            "Correct the frame in the capture software, or crop it away.",
        ),
        (
            "… changes by … mm (…); a bone keeps its length",
            "A warning: the distance between two joints of a limb varies. Markers move with the skin, so a "
            "few "
            "millimetres are usual.",
            "For large values check the marker map.",
        ),
        (
            "feet sink … m into the floor at … s",
            "A warning: the floor of the recording is not at height 0.",
            "Only the motion relative to the pelvis is used for the arms; for free motions of the legs "
            "correct "
            "the height.",
        ),
    ),
    *_family(
        "Retargeting and placement",
        PLACEMENT,
        (
            "…: out of reach: a palm misses the equipment by … mm at … s of the recording…",
            "From where the robot stands, its hand cannot be at its handle at this time without violating "
            "joint "
            "limits or balance.",
            "Let simbench find a base placement (`robot.place: auto` or `simbench place`), or move the "
            "equipment.",
        ),
        (
            "…: out of reach: its hand misses the equipment by … mm at … s of the recording …",
            "From where the arm is mounted, its flange cannot be at the handle at this time.",
            "Let simbench find a base placement (`robot.place: auto`), or move the equipment.",
        ),
        (
            "…: has no place to follow the handles from; least is missing at …",
            "The search found no base placement from which the whole task is reachable; the message names "
            "the "
            "best one and what is missing there.",
            "Change the height of the equipment or the length of the stroke.",
        ),
        (
            "…: its hand cannot follow the … hand of … about its posture at rest, even scaled to … % of its "
            "arm; another robot.posture may have more room",
            "A single arm without equipment moves its hand as the person's, about where it is at rest; joint "
            "limits, speeds or the arm's own links forbid even a small copy of the motion.",
            "Choose a posture in the middle of the arm's range (`robot.posture`), or another recording.",
        ),
        (
            "…: to imitate a person with both arms, a robot with a fixed base lacks: …",
            "Both arms need frames from shoulder to hand, their joints, and the posture `basic`.",
            "Add what the message lists to robot.yaml; `simbench robot scaffold` guesses it.",
        ),
        (
            "--picture: … follows a hand, without a model of the person to draw; allowed: free motion of a "
            "robot with two arms",
            "The picture shows the scaled model of the person; an arm that follows a hand needs none.",
            "Leave out `--picture`.",
        ),
        (
            "…: robot.place auto needs equipment whose handles are known",
            "A place can be found only if the paths of the handles are known: from an actor on a fixture.",
            "Set `robot.position_m` by hand, or use a motion on a fixture.",
        ),
        (
            "every pose can be reached, but not one after the other: the arms would have to jump",
            "Each pose is reachable, but with a different arm configuration that cannot be joined to the "
            "previous one.",
            "Move the robot by some centimetres, or shorten the stroke.",
        ),
        (
            "a palm stays … mm and …° from its handle",
            "The nearest reachable pose of the hand still misses the handle.",
            "Move the robot or the equipment, or use another grip (`handle: bar`, `rim_grip: knob`).",
        ),
        (
            "links of the robot are … mm inside each other",
            "At this place the robot would have to penetrate itself.",
            "Move the robot away from the equipment.",
        ),
        (
            "the COG would go … mm beyond the soles",
            "At this place the robot would fall.",
            "Move the robot nearer, or change `retarget.pelvis_lean_m`.",
            BALANCE,
        ),
        (
            "…: nothing to do: … brings no hand that it has within retarget.contact_distance_m (…) of its "
            "handle",
            "No hand of the recording comes close enough to the equipment, so there is no contact to follow.",
            "Check that the fixture stands where the recording's was; increase "
            "`retarget.contact_distance_m`.",
        ),
        (
            "retarget.weights: …: hands hold nothing; allowed: motions on equipment",
            "Weights of criteria apply while the hands hold something.",
            "Remove `retarget.weights`, or use a motion on a fixture.",
            "concepts/redundancy_and_skills",
        ),
        (
            "…: at … s of the recording the palms cannot follow their path within the joint limits from "
            "where "
            "retarget.weights (…) have led; …",
            "With these weights the null-space motion drives a joint to its limit before the task ends.",
            "Use other weights, `retarget.transfer: path`, or another place.",
            "concepts/redundancy_and_skills",
        ),
        (
            "… a joint is … times as fast as allowed, even in … s; begin and end the recording elsewhere …",
            "The motion between the robot's posture and the recording's first or last pose would exceed a "
            "speed "
            "limit, however long it takes.",
            "Choose `motion.start_s` and `motion.end_s` at moments of slow motion.",
        ),
        (
            "…: a human motion needs a robot that stands on two feet and has two arms; it lacks: …",
            "The robot.yaml does not declare the groups or frames that imitation uses.",
            "Add what is missing to `groups`, `frames` and `postures` of the robot.yaml.",
            ROBOT,
        ),
        (
            "…: the legs cannot balance frame …: feet … m or rad off their place, COG … mm off its target",
            "The inverse kinematics of the legs found no posture for this frame.",
            "Stand with knees more bent, or reduce `retarget.pelvis_follow`.",
            BALANCE,
        ),
        (
            "…: no motion at the recorded tempo: …",
            "Limits of position, speed, acceleration and torque leave no motion at all.",
            "Look for a joint without room between its limits (`simbench robot inspect`), or slow the motion "
            "(`retarget.timing: uniform`).",
            "concepts/timing",
        ),
        (
            "…; not even with a calmer motion at the recorded tempo; retarget.timing uniform slows it",
            "Neither smaller amplitudes nor a lower pelvis let the legs balance the motion.",
            "Set `retarget.timing: uniform`, or crop the recording (`motion.start_s`, `motion.end_s`).",
            "concepts/timing",
        ),
        (
            "retarget.timing: …: hands hold equipment; allowed: local, uniform, got preserve",
            "A hand that holds something cannot make smaller movements than the equipment.",
            "Set `retarget.timing: local`, or `uniform`.",
            "concepts/timing",
        ),
        (
            "…: its legs do not allow a pelvis … m from the posture's height; allowed: … to … m",
            "The knees would have to be straighter than straight, or more bent than they can.",
            "Choose `robot.height_m` in the range.",
            BALANCE,
        ),
        (
            "…: keeping balance needs … between … and … rad, its limits are … and …",
            "The COG's motion with the hands needs more range of a leg's joint than it has.",
            "Reduce `retarget.pelvis_follow`, or choose another `robot.height_m`.",
            BALANCE,
        ),
        (
            "…: joint … has no torque limit, so its acceleration limit is unknown; …",
            "Arm adaptation computes acceleration limits from torque limits.",
            "Add the effort limit to the robot's URDF.",
            ROBOT,
        ),
    ),
    *_family(
        "Balance and stepping",
        BALANCE,
        (
            "balance.gain_cog: … is not above …",
            "The COG-ZMP control is stable only if k_c is above ω, the natural frequency of the inverted "
            "pendulum.",
            "Increase `balance.gain_cog`; the message names ω.",
        ),
        (
            "balance.gain_zmp: … is not below …",
            "The COG-ZMP control is stable only if k_p is below ω, the natural frequency of the inverted "
            "pendulum.",
            "Decrease `balance.gain_zmp`; the message names ω.",
        ),
        (
            "…: a leg would have to be straight",
            "At this moment of the plan the foot is further away than the leg is long.",
            "Shorten the steps (`stepping.step_length_m`), or stand with knees more bent (`robot.height_m`).",
        ),
        (
            "…: … would go to … rad, … rad beyond its limit; allowed: … to … rad",
            "At this moment of the plan a joint of a leg would exceed its range.",
            "Shorten the steps or the turn.",
        ),
        (
            "…: … would turn at … rad/s; allowed: … rad/s",
            "At this moment of the plan a joint of a leg would exceed its speed limit.",
            "Increase `stepping.single_support_s`, or shorten the steps.",
        ),
        (
            "…: … m from its place beside the other foot; allowed: … m",
            "A step is longer than the legs allow.",
            "Decrease `stepping.step_length_m` or `stepping.step_width_m`.",
        ),
        (
            "physics diverged at … s: … first; try a smaller simulation.timestep_s, lower gains, or …",
            "A speed reached what only an explosion of the integration reaches, or a state is not a number: "
            "the time step is too long for the gains, the inertia or the contacts. The run ends there.",
            "Reduce `simulation.timestep_s` or the gains of the robot.yaml; look for links without inertia "
            "and for bodies that penetrate each other at the start.",
            CONTROLLER,
        ),
        (
            "the planned motion is not a finite number from … s on, first joint …",
            "Retargeting found no posture at this time, for example because an arm is straight or a marker "
            "is lost.",
            "Look at the recording there with `simbench motion inspect`, and cut it, or filter it.",
            RECORDING,
        ),
        (
            "simulation.settle_s + simulation.hold_s: …; allowed: at least …, two ticks of balance",
            "The run is too short for the balance controller.",
            "Increase `simulation.settle_s` or `simulation.hold_s`.",
        ),
        (
            "…: … missing: to stand, a robot needs a flat sole under each foot",
            "The robot.yaml has no rectangles `soles`. A guessed one has none if the feet have no collision "
            "shape that is flat underneath.",
            "Add `<collision>` to the feet in the URDF, or `soles` to the robot.yaml.",
            ROBOT,
        ),
        (
            "…: frames.…: no link of the foot has a collision shape, so that it would fall through the "
            "floor; add …",
            "Only collision shapes touch the floor; the foot has at most visible ones.",
            "Add `<collision>` to the link of the foot in the URDF.",
            ROBOT,
        ),
        (
            "…: posture … does not stand: soles tilted … rad, … mm uneven …",
            "In this named posture the soles are not flat on one plane.",
            "Correct the posture in the robot.yaml: hip, knee and ankle pitch must add up to 0.",
            ROBOT,
        ),
    ),
    *_family(
        "Robots",
        ROBOT,
        (
            "…: exists already; --force overwrites it, --out DIR writes elsewhere",
            "`simbench robot scaffold` would replace a robot.yaml, which may have been corrected by hand.",
            "Give another folder with --out, or --force if nothing in the old file is needed.",
        ),
        (
            "…: is the URDF itself; --out DIR writes its turned copy elsewhere",
            "The root link must be turned, and the turned copy would replace the URDF.",
            "Give another folder with --out.",
        ),
        (
            "…: no joint moves; a robot needs at least one",
            "All joints of the URDF are fixed, so that it has no limbs.",
            "Check the joints' types in the URDF.",
        ),
        (
            "unknown robot `…`; known: …; or give the path of …",
            "There is neither a shipped robot nor a file of this name.",
            "Use one of the names of `simbench robot list`, or the path of a robot.yaml or a URDF.",
        ),
        (
            "robot_descriptions:…: the package is not installed; pip install …; …",
            "Robots named `robot_descriptions:NAME` come from this package.",
            "Install it, or give the path of a URDF.",
        ),
        (
            "robot_descriptions:…: cannot be fetched: …; …",
            "The package `robot_descriptions` could not clone the repository of the robot.",
            "Install git and see whether its server can be reached, or give the path of a URDF.",
        ),
        (
            "robot_descriptions:…: … has no URDF of it (its other formats are not read)",
            "The package `robot_descriptions` knows the robot in another format only, such as MJCF.",
            "Look for a URDF of the robot.",
        ),
        (
            "needs …: pip install …, or in a clone pip install -e …",
            "The URDF of this robot is in a package that is not installed.",
            "Install the package with one of the commands of the message.",
        ),
        (
            "…: `…` not found: … has no file …",
            "The package that `urdf` names is installed, but does not contain this file.",
            "Correct the path, or install the version of the package that has it.",
            ROBOT_YAML,
        ),
        (
            "…: must be the path of a robot.yaml or of its folder, not …",
            "Another package names a robot (entry point of group `simbench.robots`), but gives no path.",
            "Correct the package: the entry point must be the path of a robot.yaml or of its folder.",
        ),
        (
            "…: the URDF has a link or joint of this name; choose another",
            "A frame of `fixed_frames` has the name of a link or joint of the URDF.",
            "Rename the frame, here and in `frames`.",
            ROBOT_YAML,
        ),
        (
            "…: not used: it builds a URDF, which needs `…` too; …",
            "The robot.yaml has only some of the sections from which a URDF is built; they have no effect.",
            "Remove the section if the URDF is from elsewhere; `fixed_frames` are added to any URDF.",
            ROBOT_YAML,
        ),
        (
            "…: not used; allowed: …",
            "The robot.yaml names a group, frame or sole that nothing reads.",
            "Use one of the listed names.",
            ROBOT_YAML,
        ),
        (
            "unknown key `…`",
            "The robot.yaml has a key that simbench does not know.",
            "Correct the spelling; `simbench schema robot` describes all keys.",
            ROBOT_YAML,
        ),
        (
            "…: not a URDF that Pinocchio can read: …",
            "The URDF is valid XML, but Pinocchio cannot build a model from it.",
            "`simbench robot inspect FILE` lists what is wrong.",
        ),
        (
            "…: not a URDF that MuJoCo can simulate: …",
            "Pinocchio can build a model from the URDF, but MuJoCo refuses it, often for an inertia that no "
            "rigid body has.",
            "Correct the link that the message names, or take `--engine bullet`.",
        ),
        (
            "…: not a URDF that Bullet can read",
            "Pinocchio can build a model from the URDF, but Bullet refuses it.",
            "`simbench robot inspect FILE` lists what is wrong; remove links to find the one that is.",
        ),
        (
            "…: a collision mesh cannot be made convex: …",
            "A collision mesh has no convex hull, for example because all its vertices lie in one plane.",
            "Replace the mesh by a box, cylinder or sphere, or by a mesh with a volume.",
        ),
        (
            "…: larger than … MB; meshes belong in other files",
            "The file is far larger than any URDF.",
            "Move meshes to OBJ, STL or Collada files, and name them in the URDF.",
        ),
        (
            "has … joints that move; Bullet allows …; `fixed_joints` of a robot.yaml fixes some, and "
            "--engine mujoco has no such limit",
            "Bullet has room for the state of a limited number of joints.",
            "List joints that need not move, such as fingers, under `fixed_joints` of the robot.yaml, or "
            "simulate it in MuJoCo.",
        ),
        (
            "…: … … is too large; allowed is …",
            "A mass, an inertia, a place or a size is larger than that of any robot.",
            "Correct the number; check its unit: kg, kg·m², m, rad.",
        ),
        (
            "…: a xacro file, not yet a URDF; expand it: xacro …",
            "Xacro is a macro language that produces URDF.",
            "Run the command of the message, and use its output.",
        ),
        (
            "…: no row for …; every joint of the URDF needs one",
            "Motors or gains are missing for some joints of the robot.",
            "Add a row for each, or write `gains: auto`.",
            ROBOT_YAML,
        ),
        (
            "…: unknown … `…`; allowed: …",
            "The robot.yaml names a joint, link or frame that the URDF does not have.",
            "Correct the name.",
            ROBOT_YAML,
        ),
        (
            "….…: no joint to fix has this name; allowed: …, or a fixed joint",
            "`fixed_joints` of robot.yaml names a joint that the URDF does not have.",
            "Correct the name; the message lists the joints that move.",
        ),
        (
            "…: …; the joint does not move: allowed: 0",
            "`fixed_joints` of robot.yaml gives a position to a joint that is fixed in the URDF.",
            "Write 0: its link then becomes part of the link that carries it.",
        ),
        (
            "…: … rad is outside the joint's limits …..…",
            "A named posture puts a joint beyond its limits.",
            "Change the posture in the robot.yaml.",
            ROBOT_YAML,
        ),
        (
            "give [reduction, rotor inertia in g·cm²], or reflected_inertia in kg·m²",
            "A motor has both or none of the two forms of inertia.",
            "Give exactly one.",
            ROBOT_YAML,
        ),
        (
            "breakaway … must not be less than coulomb …",
            "Friction at rest cannot be smaller than in motion.",
            "Increase `breakaway` to at least `coulomb`.",
            ROBOT_YAML,
        ),
        (
            "…: no posture …; allowed: …",
            "The robot has no posture of this name.",
            "Use one of the listed names in `robot.posture`, or add it to the robot.yaml.",
            ROBOT_YAML,
        ),
        (
            "…: balance needs two legs; … missing",
            "The robot.yaml does not declare the joints of both legs.",
            "Add the groups `left_leg` and `right_leg`.",
            ROBOT_YAML,
        ),
        (
            "joint `…`: both limits are …: it cannot move",
            "A warning: lower and upper limit of a joint are the same, often 0 in exported URDFs.",
            "Correct the limits in the URDF.",
        ),
        (
            "joint `…`: zero is outside its limits …",
            "A warning: the zero position, from which postures are written, cannot be reached.",
            "It may be right; give such joints a position in every posture.",
        ),
        (
            "links `…`, `…`: masses differ: …, … kg",
            "A warning: left and right links of a pair have different masses.",
            "It may be right; otherwise correct one of them in the URDF.",
        ),
        (
            "…: no rigid body has principal moments of … kg·m²: the largest exceeds the sum of the others",
            "An inertia tensor that no distribution of mass can have.",
            "Correct the link's inertia; exporters often write it about the wrong point or in the wrong "
            "unit.",
        ),
        (
            "…: inertia is not positive definite (principal moments … kg·m²)",
            "An inertia tensor that no rigid body can have.",
            "Correct the link's inertia in the URDF.",
        ),
        (
            "…: inertia is too large: … kg at … m from their centre, where the geometry ends at … m",
            "The radius of gyration is larger than the link: usually the inertia is about the wrong point, "
            "or in "
            "other units than kg·m².",
            "Correct the link's inertia in the URDF.",
        ),
        (
            "…: inertia is too small: … kg at … m from their centre, while the geometry reaches … m",
            "The radius of gyration is much smaller than the link.",
            "Correct the link's inertia in the URDF.",
        ),
        (
            "…: centre of gravity lies … m outside its geometry",
            "The centre of gravity is far from the shapes of the link.",
            "Correct the link's `<inertial>` origin in the URDF.",
        ),
        (
            "link `…`: is the child of several joints (…); closed loops are not supported",
            "A URDF describes a tree of links.",
            "Cut the loop at one joint.",
        ),
        (
            "joint `…`: type `…` is not supported; allowed: … (…)",
            "simbench simulates revolute, continuous, prismatic and fixed joints.",
            "Replace the joint as the message says.",
        ),
    ),
    *_family(
        "Runs, videos and reports",
        RUN,
        (
            "…: exists and is not empty; a run needs a new directory",
            "simbench does not overwrite a run.",
            "Give another `--out`, or remove the directory.",
        ),
        (
            "…: holds more than an interrupted run; move or delete it first",
            "The directory of an interrupted run is replaced by the next run of the same name, but this one "
            "also holds files that no run writes.",
            "Move them, or give another `--out`.",
        ),
        (
            "…: another process is writing this run",
            "Another simbench process is running into the same directory.",
            "Wait until it has ended, or give another `--out`.",
        ),
        (
            "simulation.engine: … needs …, which is not installed: …",
            "The physics engine of the scenario is a library that is not installed.",
            "Install what the message names, or choose the engine that is there.",
        ),
        (
            "… needs …, which is not installed: …",
            "PyBullet has the only window, and draws pictures where OpenGL does not work.",
            "Install it, watch a run with `--view`, or make a video.",
        ),
        (
            "…: engine mujoco has no window; allowed: …, or engine bullet",
            "simbench shows MuJoCo's simulation in a browser only.",
            "Watch with `--view`, or simulate in Bullet.",
        ),
        (
            "a world in MuJoCo has at most … robots and pieces of equipment",
            "MuJoCo tells bodies that collide from those that do not by the bits of a number.",
            "Put several pieces into one mechanism.",
        ),
        (
            "--set simulation.engine: the scenarios run in both engines; leave it out",
            "`simbench compare-engines` chooses the engines itself.",
            "Leave the override out.",
        ),
        (
            "two of the scenarios have the same name; a comparison needs names of their own",
            "Run directories are named after scenarios.",
            "Give one of them another `name`.",
        ),
        (
            "…: is not a run directory with a log.nc…",
            "The directory holds no log.",
            "Give a directory that `simbench run` made.",
        ),
        (
            "…: its log has no …, which is needed here: …",
            "A plot or a video shows a variable that the log does not have.",
            "Run the scenario again; a log that you changed needs the variables of the original.",
        ),
        (
            "…: … is NaN, infinite or beyond … at … s: the simulation diverged, or the log is damaged; …",
            "The log has numbers that cannot be drawn.",
            "If the simulation diverged, reduce gains or the time step; else run it again.",
        ),
        (
            "…: … has the dimensions (…); must be (…)",
            "The log was changed by another program, and a variable does not have its form any more.",
            "Write the variable with the dimensions that `simbench explain` names for it.",
        ),
        (
            "…: the joints of its log are not those of …, the robot of its scenario",
            "`log.nc` and `scenario.yaml` of the run directory do not belong together.",
            "Run the scenario again.",
        ),
        (
            "…: is a link; plots are written only into the run directory",
            "The folder `plots` of the run directory is a symbolic link to another place.",
            "Remove the link.",
        ),
        (
            "…: is not a whole run directory: it has no …",
            "A file of the run is missing.",
            "Run the scenario again.",
        ),
        (
            "…: cannot write: …; partial run kept in …",
            "Writing failed, usually because the disk is full.",
            "Make room, and run again.",
        ),
        (
            "… needs a screen: DISPLAY is not set; use … instead",
            "A window cannot be opened on a machine without a screen.",
            "Use the alternative that the message names, such as `--video`.",
            VIDEO,
        ),
        (
            "--set …: a finished run cannot be changed; allowed: camera.KEY=VALUE",
            "A replay shows what was simulated; only the camera can be moved.",
            "Run the scenario again with the override.",
            VIDEO,
        ),
        (
            "…: must be a file in a directory that exists",
            "The output file could not be written.",
            "Create the directory first.",
        ),
        (
            "…: the file's name is longer than … bytes",
            "No file system takes such a name.",
            "Choose a shorter one.",
        ),
        (
            "…: cannot be read: is …; give a file",
            "A directory, a device, a pipe or a socket has this name. Reading it might never end.",
            "Give a regular file; write what comes through a pipe to a file first.",
        ),
        (
            "…: larger than … MB, the largest file that is read here",
            "Reading the file could take more memory than there is.",
            "Check that it is the right file; cut a long recording into parts.",
        ),
        (
            "…: the name is not text in …; rename it, or set PYTHONUTF8=1",
            "The name has bytes that are no characters in the encoding of file names. It could not be "
            "written into logs or reports.",
            "Rename the file. In a locale without UTF-8, set the environment variable PYTHONUTF8=1.",
        ),
        (
            "not enough memory; raise the limit (ulimit -v), or ask for less",
            "The process reached a limit of memory.",
            "Raise the limit, or use a shorter motion.",
        ),
        (
            "the current directory does not exist any more; change to one that does",
            "The directory in which the command was started has been deleted.",
            "Change to a directory that exists.",
        ),
        (
            "cannot load …: …",
            "An installed library could not be loaded: a limit of memory or of open files was reached, or "
            "the installation is damaged.",
            "Raise the limits (`ulimit -v`, `ulimit -n`), or install simbench again.",
        ),
        (
            "partial run kept in …",
            "The run was interrupted; its log up to then is kept.",
            "`simbench report` and `simbench replay` read it.",
        ),
    ),
    *_family(
        "Checks and baselines",
        CHECKS,
        (
            "check failed: … is …, must be …",
            "A metric is outside the bound that the scenario's section `checks` gives.",
            "`simbench explain METRIC` says what the metric means and what to do.",
        ),
        (
            "… is …, its baseline …",
            "A metric is worse than its baseline by more than the tolerance.",
            "If the change is intended, write the new value with `simbench check --update`.",
        ),
        (
            "… is missing; its baseline is …",
            "The run no longer has this metric, for example because a fixture was renamed.",
            "If that is intended, write a new baseline with `simbench check --update`.",
        ),
        (
            "no baselines in …; --update writes them",
            "None of the scenarios has a baseline yet.",
            "Run `simbench check --update`.",
        ),
        (
            "…: no baseline …; --update writes one",
            "The scenario has no baseline yet.",
            "Run `simbench check --update SCENARIO`.",
        ),
        (
            "--set …: would not be seen in the baseline that --update writes; …",
            "A baseline belongs to the scenario as its file describes it.",
            "Give the changed scenario a name of its own: `--set name=…`.",
        ),
        (
            "…: has the name '…' and so the baseline of …; …",
            "Two scenarios of one check would share a baseline.",
            "Change the key `name` of one of them.",
        ),
        (
            "…: first divergence: …",
            "A signal left the envelope of its baseline's trace, or is early or late, from that moment on.",
            "`report.html` in the dossier of the failed check shows it beside the baseline. If the change is "
            "intended, write a new trace with `simbench check --update`.",
        ),
        (
            "…: no dossier: …",
            "The check failed as said above; only the folder with plots and clip could not be written.",
            "Choose another folder with `--artifacts DIR`.",
        ),
        (
            "--only …: goes with --update, which rewrites both by default",
            "The option chooses what of a baseline is rewritten; without `--update` nothing is.",
            "Add `--update`, or use `--no-traces` to compare metrics only.",
        ),
    ),
    *_family(
        "Studies and clusters",
        CLUSTER,
        (
            "…: this study was begun with other sources; choose another directory",
            "A study directory is tied to one version of simbench, so that its rows can be compared.",
            "Give another `--out`.",
        ),
        (
            "…: holds another study, … runs over …; choose another directory",
            "The directory belongs to a study with other arguments.",
            "Give another `--out`.",
        ),
        (
            "…: another process is working on this study",
            "Two processes would write into the same directory.",
            "Wait for the other one, or stop it.",
        ),
        (
            "--vary …: must be key=a,b,c or key=a..b, for example seed=1..20",
            "The values of the varied key cannot be read.",
            "Write a list or a range of whole numbers.",
        ),
        (
            "--vary …: … combinations; at most … runs are one sweep",
            "The product of all lists is too large.",
            "Vary fewer keys, or fewer values of each.",
        ),
        (
            "--dask …: no Dask scheduler answers: …",
            "There is no scheduler at this address.",
            "Start `dask scheduler`, and check address, port and firewall.",
        ),
        (
            "--dask …: the cluster is gone; what is finished is kept",
            "The connection to the scheduler was lost.",
            "Start it again, and repeat the command: it continues.",
        ),
        (
            "needs … pip install …",
            "An optional library is missing.",
            "Install the library with the command of the message.",
            "start/install",
        ),
    ),
    *_family(
        "Calibration",
        CALIBRATION,
        (
            "…: no column …; allowed: …",
            "The CSV file lacks a column that the calibration needs.",
            "Name the columns as the message says.",
        ),
        (
            "…, time: allowed: even steps forward, to 1 %",
            "Derivatives are computed by filters that need evenly spaced samples.",
            "Resample the recording.",
        ),
        (
            "…: … times the rate of what it goes with…; allowed: 1, SI units",
            "The speed column is not the derivative of the position column: usually degrees or rpm.",
            "Convert to rad and rad/s.",
        ),
        (
            "the arm is not fully known: … not determined by its motions",
            "Some parameters have no effect on the recorded motions.",
            "Record motions that move every joint, in different postures.",
        ),
        (
            "tip: moves over … m, the arm's lengths add up to … m (millimetres?); allowed: SI units",
            "The tip moves further than the arm is long: usually its positions are in millimetres.",
            "Convert the positions to metres.",
        ),
        (
            "tip: misses the calibrated arm by … m, RMS, its travel is … m; …",
            "No arm of this kind explains the tip positions.",
            "Check the order and signs of the joints, and that the tip belongs to the same samples.",
        ),
    ),
    *_family(
        "Skills",
        SKILLS,
        (
            "…: nothing repeats in it; give the span to be analysed",
            "No repetitions were found in the recording.",
            "Give `--span START END`, in s.",
        ),
        (
            "--span … …: the end must come after the start",
            "The span is empty.",
            "Exchange the two times.",
        ),
        (
            "…: at … s the hands cannot follow their path from the posture that weights … of … have led to",
            "With these weights the law drives the arm to a posture from which the path cannot be followed.",
            "Use other weights, or a shorter span.",
        ),
        (
            "none of … laws can keep the hands on their path to its end",
            "No combination of weights reproduces the hands' motion.",
            "Check the recording and its span with `simbench motion inspect`.",
        ),
        (
            "retarget.weights.ergonomy 0",
            "An ergonomic posture is declared for ROMEO's arms only.",
            "Set `retarget.weights.ergonomy: 0`.",
        ),
    ),
)


def message_entries() -> tuple[MessageEntry, ...]:
    """List the messages that have an explanation. Returns messages by family."""
    return _CATALOGUE


def error_classes() -> tuple[ErrorClass, ...]:
    """List the classes of errors. Returns classes that users meet."""
    return _CLASSES


def find_message(message: str) -> MessageEntry | None:
    """Find the explanation of a message.

    `message`: message as simbench printed it, with the user's own names and numbers. Returns the entry with
    the longest fixed text that fits; None if none does.
    """
    text = " ".join(message.split())
    fitting = [entry for entry in _CATALOGUE if matches(entry.pattern, text)]
    return max(fitting, key=lambda entry: _length(entry.pattern), default=None)


def find_containing(part: str) -> tuple[MessageEntry, ...]:
    """Find the explanations of messages of which only a part is known.

    `part`: some words of a message. Returns entries whose patterns have most of these words; none if no
    pattern has enough of them.
    """
    words = _words(part)
    common = [len(words & _words(entry.pattern)) for entry in _CATALOGUE]
    if max(common) < max(_FEWEST_WORDS, _MOST_WORDS * len(words)):
        return ()
    return tuple(entry for entry, count in zip(_CATALOGUE, common, strict=True) if count == max(common))


def _words(text: str) -> set[str]:
    return set(re.findall(r"[^\W\d_]{2,}", text.casefold()))


def find_template(message: str) -> Template | None:
    """Find the template in simbench's source from which a message was made.

    `message`: message as simbench printed it. Returns the template with the longest fixed text that fits;
    None if none does.
    """
    text = " ".join(message.split())
    # A text that is not raised may be no message: it must be most of what is asked for.
    fitting = [
        template
        for template in message_templates()
        if matches(template.text, text) and (template.error or 2 * _length(template.text) >= len(text))
    ]
    return max(fitting, key=lambda template: _length(template.text), default=None)


def _length(text: str) -> int:
    """Count the characters of the fixed parts."""
    return sum(map(len, fixed_parts(text)))
