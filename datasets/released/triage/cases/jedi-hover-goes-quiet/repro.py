"""A script answers its twentieth question as it does its first."""

import tempfile

import jedi
from jedi.api.environment import InterpreterEnvironment

jedi.settings.cache_directory = tempfile.mkdtemp()
QUESTIONS = 20

lines = ["def twice(part):", "    return [part, part]", ""]
lines += [f"pair_{n} = twice({n}.5)" for n in range(QUESTIONS)]
lines += [f"pair_{n}[0].hex" for n in range(QUESTIONS)]
script = jedi.Script("\n".join(lines), environment=InterpreterEnvironment())
found = [script.infer(4 + QUESTIONS + n, len(f"pair_{n}[0].hex")) for n in range(QUESTIONS)]

assert all(found), [n for n in range(QUESTIONS) if not found[n]]
