"""A call that wants its result gets it, whatever is the rule for the task."""

import logging
import tempfile

from celery import Celery
from celery.contrib.testing.worker import start_worker

logging.disable(logging.CRITICAL)
folder = tempfile.mkdtemp()
app = Celery("desk", broker="memory://", backend=f"file://{folder}", set_as_current=False)


@app.task(ignore_result=True)
def weigh(grams: int) -> float:
    return grams / 1000


with start_worker(app, pool="solo", perform_ping_check=False, shutdown_timeout=5):
    assert weigh.apply_async((2500,), ignore_result=False).get(timeout=3) == 2.5
