import unittest
from datetime import date
from pathlib import Path

from quillmark.errors import TemplateError
from quillmark.escape import Safe
from quillmark.filters import FILTERS
from quillmark.template import Layouts


def fill(source: str, **context: object) -> str:
    layouts = Layouts(Path("nowhere"), FILTERS, {"a": source, "part": "[{{ x }}]", "loop": '{% include "loop" %}'})
    return layouts.get("a").render(context)


class LayoutTest(unittest.TestCase):
    def test_values_are_escaped_unless_safe(self):
        self.assertEqual(fill("{{ x }}{{ y }}", x="<b>", y=Safe("<i>")), "&lt;b&gt;<i>")

    def test_what_does_not_exist_is_empty(self):
        self.assertEqual(fill("<{{ a.b.c }}{{ x._y }}>", x={"_y": 1}), "<>")

    def test_branches(self):
        source = "{% if x == 1 %}one{% elif not x %}none{% else %}many{% endif %}"

        self.assertEqual([fill(source, x=value) for value in (1, 0, 5)], ["one", "none", "many"])

    def test_loops(self):
        source = "{% for x in items %}{{ loop.index }}{{ x }}{% if not loop.last %},{% endif %}{% endfor %}"

        self.assertEqual(fill(source, items=["a", "b"]), "1a,2b")

    def test_parts(self):
        self.assertEqual(fill('{% include "part" %}', x=1), "[1]")
        with self.assertRaises(TemplateError):
            fill('{% include "loop" %}')

    def test_filters(self):
        day = date(2026, 3, 1)
        for source, expected in (
            ('{{ day | date("%d %B %Y") }}', "01 March 2026"),
            ("{{ none | date }}", ""),
            ('{{ empty | default("-") | upper }}', "-"),
            ("{{ text | truncate(9) }}", "a long…"),
            ('{{ names | first(2) | join(" / ") }}', "a / b"),
            ("{{ names | count }}", "3"),
            ('{{ "Ab c" | slug }}', "ab-c"),
        ):
            with self.subTest(source):
                values = {"day": day, "empty": "", "text": "a long sentence", "names": ["a", "b", "c"]}
                self.assertEqual(fill(source, **values), expected)

    def test_faults_name_their_line(self):
        for source, message in (
            ("\n{{ x | nope }}", "a:2: unknown filter 'nope'"),
            ("{% for x in y %}", "a:1: `endfor` is missing"),
            ("{% endif %}", "a:1: `endif` closes nothing"),
            ("{{ x", ""),
        ):
            with self.subTest(source):
                if not message:
                    self.assertEqual(fill(source), source)
                    continue
                with self.assertRaises(TemplateError) as caught:
                    fill(source)
                self.assertEqual(str(caught.exception), message)


if __name__ == "__main__":
    unittest.main()
