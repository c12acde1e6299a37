"""A character that is written by its name is text, in an f-string too."""

import parso

grammar = parso.load_grammar(version="3.9")
for source in ('f"Kapitel \\N{EM DASH} {name}"\n', 'f"""\\N{EM DASH}\n{name}"""\n'):
    module = grammar.parse(source)
    found = [error.message for error in grammar.iter_errors(module)]
    assert not found, (source, found)
    assert module.children[0].type == "simple_stmt", module.children[0].type
