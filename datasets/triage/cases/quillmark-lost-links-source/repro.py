"""Link definitions below a code block count, whatever kind of fence the block shows."""

from quillmark.blocks import parse
from quillmark.filters import FILTERS
from quillmark.plugins import default_registry
from quillmark.render import render

PAGE = """\
Begin your [notes][n] with

~~~
```notes
~~~

and send them in.

[n]: notes.md
"""

done = render(parse(PAGE), default_registry(FILTERS), {})
assert "<pre><code>```notes</code></pre>" in done.body, done.body
assert done.links == ("notes.html",), done.body
assert '<a href="notes.html">notes</a>' in done.body, done.body
