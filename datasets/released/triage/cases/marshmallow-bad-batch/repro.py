"""Refusing a long list of bad records does not write down again, for each record, what was said of all before it."""

from marshmallow import Schema, ValidationError, error_store, fields


class Reading(Schema):
    value = fields.Integer(required=True)


def copied(count: int) -> int:
    """How many entries of the report are carried over into a new one while `count` bad records are refused."""
    carried = 0
    really = error_store.ErrorStore.store_error

    def watched(store: error_store.ErrorStore, *arguments: object, **named: object) -> None:
        nonlocal carried
        before, entries = store.errors, len(store.errors)
        really(store, *arguments, **named)
        carried += entries if store.errors is not before else 0

    error_store.ErrorStore.store_error = watched  # type: ignore[method-assign]
    try:
        Reading(many=True).load([{"value": "n/a"}] * count)
    except ValidationError as error:
        assert len(error.normalized_messages()) == count
    finally:
        error_store.ErrorStore.store_error = really  # type: ignore[method-assign]
    return carried


few, many = copied(200), copied(400)
assert many <= 3 * few, f"{few} entries carried over for 200 records, {many} for 400"
