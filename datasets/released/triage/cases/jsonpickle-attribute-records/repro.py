"""A record whose keys can be read as attributes survives being written and read."""

import jsonpickle


class Record(dict):
    def __init__(self, **values):
        super().__init__(**values)
        self.__dict__ = self


again = jsonpickle.decode(jsonpickle.encode(Record(a=1, b={"c": 2})))
assert again["a"] == 1 and again["b"] == {"c": 2}, again
