import unittest
from datetime import date

from quillmark.config import Settings, build_date, load_settings
from quillmark.errors import ConfigError, IncludeError, SourceError
from support import TODAY, SiteTest


class BuildTest(SiteTest):
    def test_pages_are_put_into_layouts(self):
        self.write(index="---\ntitle: Home\n---\n# Hi", posts__first="---\ndate: 2026-01-02\n---\nText")
        self.put("layouts/page.html", "{{ page.title }}|{{ page.url }}|{% for p in site.pages %}{{ p.path }},{% endfor %}")
        self.build(base_url="https://example.org/")

        self.assertEqual(self.page("index.html"), "Home|https://example.org/index.html|posts/first.html,index.html,")

    def test_drafts_future_and_excluded_pages_are_left_out(self):
        self.write(a="---\ndraft: true\n---\n", b="---\ndate: 2026-03-03\n---\n", c="", d="---\ndate: 2026-03-02\n---\n")
        left_out = self.build(exclude="c*").left_out

        self.assertEqual(left_out, {"a.md": "draft", "b.md": "in the future", "c.md": "excluded"})
        self.assertEqual(self.build(drafts=True, future=True).left_out, {})

    def test_a_second_build_renders_nothing_anew(self):
        self.write(a="---\ndate: 2026-01-02\ntags: [x, y]\n---\n{{ date }}", b="# B")
        self.build()
        first = self.page("a.html")
        report = self.build()

        self.assertEqual(report.reused, ["a.md", "b.md"])
        self.assertEqual(self.page("a.html"), first)

    def test_a_changed_source_is_rendered_again(self):
        self.write(a="old", b="same")
        self.build()
        self.write(a="new")

        self.assertEqual(self.build().reused, ["b.md"])
        self.assertIn("new", self.page("a.html"))

    def test_a_changed_snippet_is_seen_by_its_page(self):
        self.write(a="!include _parts/x.md", b="", _parts__x="old")
        self.build()
        self.write(_parts__x="new")

        self.assertEqual(self.build().reused, ["b.md"])
        self.assertIn("new", self.page("a.html"))

    def test_a_changed_setting_is_seen_by_all(self):
        self.write(a="# A\n## B\n::toc /")
        self.build()

        self.assertEqual(self.build(toc_depth=1).reused, [])

    def test_a_broken_cache_is_as_good_as_none(self):
        self.write(a="x")
        self.put(".quillmark/cache.json", "{")

        with self.assertLogs("quillmark.cache", "WARNING"):
            self.assertEqual(self.build().reused, [])

    def test_links_are_checked(self):
        self.write(a="# Top\n[1](b.md#no) [2](b.md) [3](c.md) [4](#top) [5](x.png) [6](https://example.org/)", b="")
        self.put("content/x.png", "")
        found = [(link.target, link.reason) for link in self.build().broken]

        self.assertEqual(found, [("b.html#no", "no such heading"), ("c.html", "no such page")])

    def test_a_plugin_adds_a_directive(self):
        self.write(a="::shout hello /")
        with self.assertRaisesRegex(SourceError, "a.md:1: unknown directive 'shout'"):
            self.build()


class IncludeTest(SiteTest):
    def test_snippets_are_found_from_the_file_and_from_the_content_folder(self):
        self.write(a__b="!include x.md\n!include /y.md", a__x="one", y="two")
        self.build()

        self.assertIn("<p>one\ntwo</p>", self.page("a/b.html"))

    def test_an_include_in_code_is_text(self):
        self.write(a="```\n!include nowhere.md\n```")
        self.build()

        self.assertIn("!include nowhere.md", self.page("a.html"))

    def test_faults_name_file_and_line(self):
        for text, message in (
            ("!include ../secret.md", "a.md:4: ../secret.md lies outside"),
            ("!include a.md", "a.md:4: a.md includes itself"),
            ("!include nowhere.md", "a.md:4: cannot include nowhere.md"),
        ):
            self.write(a=f"---\ntitle: x\n---\n{text}")
            with self.subTest(text), self.assertRaises(IncludeError) as caught:
                self.build()
            self.assertTrue(str(caught.exception).startswith(message), caught.exception)


class ConfigTest(SiteTest):
    def test_the_environment_overrides_the_file_and_the_command_line_both(self):
        self.put("quillmark.toml", 'title = "File"\ntoc-depth = 2\nexclude = ["a", "b"]\n[variables]\nv = 1\n')
        settings = load_settings(self.root, {"QUILLMARK_TITLE": "Env", "QUILLMARK_DRAFTS": "yes"}, {"toc_depth": 4})

        self.assertEqual(
            settings, Settings(title="Env", toc_depth=4, drafts=True, exclude=("a", "b"), variables={"v": "1"})
        )

    def test_what_cannot_be_used_is_named(self):
        for environ, message in (
            ({"QUILLMARK_TOC_DEPTH": "x"}, "toc_depth: cannot use 'x'"),
            ({"QUILLMARK_CONFIG": "other.toml"}, "there is no configuration file"),
        ):
            with self.subTest(message), self.assertRaisesRegex(ConfigError, message):
                load_settings(self.root, environ)

    def test_a_build_can_be_given_its_day(self):
        self.assertEqual(build_date({"SOURCE_DATE_EPOCH": "86400"}, lambda: TODAY), date(1970, 1, 2))
        self.assertEqual(build_date({}, lambda: TODAY), TODAY)


if __name__ == "__main__":
    unittest.main()
