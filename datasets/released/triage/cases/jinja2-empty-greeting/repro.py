"""What was handed in can be read in a branch that stores it anew, whatever the other branches do."""

import sys
import types

# markupsafe cannot be had in pure Python; nothing here escapes, so names that stand in for it will do
stand_in = types.ModuleType("markupsafe")
stand_in.Markup = type("Markup", (str,), {})
stand_in.escape = stand_in.soft_str = str
sys.modules["markupsafe"] = stand_in

from jinja2 import Environment  # noqa: E402

LETTER = (
    '{% if sex == "f" %}{% set greeting = greeting ~ " Ms" %}'
    '{% elif sex == "m" %}{% set greeting = greeting ~ " Mr" %}'
    '{% else %}{% set greeting = "Hello" %}{% endif %}'
    "{{ greeting }} {{ name }}"
)
template = Environment().from_string(LETTER)
letters = [template.render(greeting="Dear", sex=sex, name="Lindqvist") for sex in ("f", "m", "x")]
assert letters == ["Dear Ms Lindqvist", "Dear Mr Lindqvist", "Hello Lindqvist"], letters
