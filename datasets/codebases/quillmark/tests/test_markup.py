import unittest

from quillmark.blocks import parse
from quillmark.errors import SourceError
from quillmark.filters import FILTERS
from quillmark.plugins import default_registry
from quillmark.render import render


def html(text: str, **values: object) -> str:
    return str(render(parse(text), default_registry(FILTERS), values).body)


class MarkupTest(unittest.TestCase):
    def test_inlines(self):
        for source, expected in (
            ("*a* **b** `c`", "<em>a</em> <strong>b</strong> <code>c</code>"),
            ("**a *b* c**", "<strong>a <em>b</em> c</strong>"),
            ("2 * 3 * 4", "2 * 3 * 4"),
            (r"\*a\*", "*a*"),
            ("[a *b*](c.md#d)", '<a href="c.html#d">a <em>b</em></a>'),
            ('![a](b.png "c")', '<img src="b.png" alt="a" title="c">'),
            ("<mail@example.com>", '<a href="mailto:mail@example.com">mail@example.com</a>'),
            ("[a", "[a"),
            ("a  \nb", "a<br>b"),
        ):
            with self.subTest(source):
                self.assertEqual(html(source), f"<p>{expected}</p>")

    def test_references_are_found_wherever_they_stand(self):
        self.assertEqual(html("[Read  This]\n\n[read this]: x.md"), '<p><a href="x.html">Read  This</a></p>')

    def test_text_is_escaped(self):
        self.assertEqual(html('<b> & "x"'), "<p>&lt;b&gt; &amp; &quot;x&quot;</p>")
        self.assertEqual(html("```x\"\n<b>\n```"), '<pre><code class="language-x&quot;">&lt;b&gt;</code></pre>')

    def test_links_that_run_something_lead_nowhere(self):
        for target in ("javascript:alert(1)", "JavaScript:x", "data:text/html,x", "vbscript:x"):
            with self.subTest(target):
                self.assertEqual(html(f"[a]({target})"), '<p><a href="#">a</a></p>')
                self.assertEqual(html(f"[a][r]\n\n[r]: {target}"), '<p><a href="#">a</a></p>')

    def test_lists_nest_and_may_be_loose(self):
        self.assertEqual(html("- a\n  - b\n- c"), "<ul><li>a\n<ul><li>b</li></ul></li><li>c</li></ul>")
        self.assertEqual(html("3. a\n\n4. b"), '<ol start="3"><li><p>a</p></li><li><p>b</p></li></ol>')

    def test_quotes_hold_blocks(self):
        self.assertEqual(html("> # a\n> b"), '<blockquote><h1 id="a">a</h1>\n<p>b</p></blockquote>')

    def test_directives_nest(self):
        nested = html("::note Title\na\n::tip\nb\n::end\n::end")

        self.assertEqual(
            nested,
            '<div class="note"><p class="title">Title</p><p>a</p>\n<div class="tip"><p>b</p></div></div>',
        )

    def test_a_directive_may_hold_code_that_looks_like_its_end(self):
        self.assertIn("<code>::end</code>", html("::note\n```\n::end\n```\n::end"))

    def test_what_is_never_closed_is_named(self):
        for source, message in (("```\na", "<text>:1: the code"), ("a\n\n::note", "<text>:3: the directive")):
            with self.subTest(source), self.assertRaises(SourceError) as caught:
                html(source)
            self.assertTrue(str(caught.exception).startswith(message))

    def test_variables_stand_for_values(self):
        self.assertEqual(html("v{{ version }}", version="<2>"), "<p>v&lt;2&gt;</p>")

    def test_headings_get_unique_anchors(self):
        rendered = render(parse("# Été 1\n## Été 1\n# 東京"), default_registry(FILTERS), {})

        self.assertEqual(rendered.anchors, ("ete-1", "ete-1-2", "東京"))

    def test_the_table_of_contents_nests_and_ends_at_its_depth(self):
        text = "::toc /\n\n# A\n### B\n#### C\n# D"

        self.assertIn(
            '<ul><li><a href="#a">A</a><ul><li><a href="#b">B</a></li></ul></li><li><a href="#d">D</a></li></ul>',
            html(text),
        )


if __name__ == "__main__":
    unittest.main()
