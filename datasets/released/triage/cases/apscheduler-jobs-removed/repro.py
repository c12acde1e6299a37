"""A job that is stored finds its method again, also where the class has it from a base class of another module."""

import sys
import types

from apscheduler.util import obj_to_ref, ref_to_obj

shared, billing = types.ModuleType("shared_tasks"), types.ModuleType("billing_tasks")
sys.modules.update({module.__name__: module for module in (shared, billing)})
exec("class Task:\n    @classmethod\n    def run(cls):\n        return cls.__name__\n", shared.__dict__)
exec("from shared_tasks import Task\nclass Dunning(Task):\n    pass\n", billing.__dict__)

stored = obj_to_ref(billing.Dunning.run)
failure = None
try:
    assert ref_to_obj(stored)() == "Dunning", stored
except LookupError as error:
    failure = error
assert failure is None, f"{stored}: {failure}"
