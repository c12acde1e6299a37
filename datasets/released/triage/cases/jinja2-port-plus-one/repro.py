"""A block that is referred to gives the native value that it gives by itself."""

import sys
import types

# markupsafe cannot be had in pure Python; nothing here escapes, so names that stand in for it will do
stand_in = types.ModuleType("markupsafe")
stand_in.Markup = type("Markup", (str,), {})
stand_in.escape = stand_in.soft_str = str
sys.modules["markupsafe"] = stand_in

from jinja2 import DictLoader  # noqa: E402
from jinja2.nativetypes import NativeEnvironment  # noqa: E402

TEMPLATES = {
    "base": "{% block port %}{{ 8080 }}{% endblock %}",
    "child": '{% extends "base" %}{% block port %}{{ super() + 1 }}{% endblock %}',
}
environment = NativeEnvironment(loader=DictLoader(TEMPLATES))
assert environment.get_template("base").render() == 8080
assert environment.get_template("child").render() == 8081
