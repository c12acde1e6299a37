"""All values of a field are there, wherever they came from: the address or the form."""

from werkzeug.datastructures import CombinedMultiDict, MultiDict

address = MultiDict([("tag", "red"), ("tag", "blue"), ("page", "2")])
form = MultiDict([("tag", "green")])
both = CombinedMultiDict([address, form])
assert both.getlist("tag") == ["red", "blue", "green"]

found = both.to_dict(flat=False)
assert found == {"tag": ["red", "blue", "green"], "page": ["2"]}, found
