"""With normalising switched off a double keeps the digits it was written with."""

import rdflib

rdflib.NORMALIZE_LITERALS = False

WRITTEN = "@prefix : <urn:x:> . :sample :reading 1.10E0, 3.0e5 ."

read = sorted(str(value) for value in rdflib.Graph().parse(data=WRITTEN, format="turtle").objects())
assert read == ["1.10E0", "3.0e5"], read
