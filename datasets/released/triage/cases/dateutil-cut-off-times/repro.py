"""A time that is cut off in the middle is refused, not completed."""

from dateutil.parser import isoparse

read = []
for text in ("2014-04-11T12:3045", "2014-04-11T123045:", "2014-04-11T12:304"):
    try:
        read.append((text, isoparse(text).isoformat()))
    except ValueError:
        pass

assert isoparse("2014-04-11T12:30:45") == isoparse("20140411T123045")
assert not read, read
