"""The status machine under whatever supervisor, workers and critic may do to it, held against a model of it."""

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tests.builders.plan import a_choice, a_task
from tests.builders.state import a_finding, a_rejection
from triage.plans.plan_files import faults
from triage.state import CriticVerdict, PlanLimits
from triage.supervisors.plan.plan_progress import errored, returned, reviewed, runnable, started
from triage.supervisors.plan.plan_supervisor import PlanDecision, picked
from triage.supervisors.plan.plan_tools import Desk, tools_of, use

CAPABILITIES = st.sampled_from(["investigator", "codebase_search", "web_search", "critic", "human_input", "writer"])
LIMITS = PlanLimits(max_attempts=2, max_steps=10)
MOST_TASKS = 6
IDS = st.integers(0, MOST_TASKS + 1)
SETTABLE = st.sampled_from(["READY", "RUNNING", "NEEDS_REVIEW", "COMPLETED", "FAILED", "RERUN", "ERRORED", "CANCELLED"])


class PlanMachine(RuleBasedStateMachine):
    """A plan in hybrid mode. The model keeps what must never change: which tasks are over, how often each has run."""

    @initialize(chain=st.booleans())
    def given(self, chain):
        """Two tasks, in a chain or side by side."""
        first, second = a_task(1), a_task(2, "codebase_search", dependencies=(1,) if chain else ())
        self.desk = Desk((first, second), 0, LIMITS, lambda: None)
        self.over: dict[int, str] = {}
        self.runs: dict[int, int] = {}

    @property
    def plan(self):
        """The tasks now."""
        return self.desk.plan

    def replace(self, task):
        """One task has moved."""
        self.desk = self.desk.with_task(task)

    @rule(run=st.lists(IDS, max_size=4), done=st.booleans(), room=st.integers(0, 3))
    def choose(self, run, done, room):
        """The supervisor names tasks, sensible or not; those that may run, start."""
        decision = PlanDecision.model_validate(a_choice(*run, all_done=done))
        finished = {task.task_id for task in self.plan if task.status == "COMPLETED"}
        for task in picked(self.plan, decision, room):
            assert finished.issuperset(task.dependencies)
            self.runs[task.task_id] = self.runs.get(task.task_id, 0) + 1
            self.replace(started(task, 1))

    @rule(number=IDS, fails=st.booleans())
    def come_back(self, number, fails):
        """A worker that is at work finds something, or breaks down."""
        for task in self.plan:
            if task.task_id == number and task.status == "RUNNING":
                self.replace(errored(task, 1, "no answer") if fails else returned(task, 1, a_finding()))

    @rule(number=IDS, passes=st.booleans(), breaks=st.booleans())
    def judge(self, number, passes, breaks):
        """The critic rules on a result, or breaks down."""
        verdict = CriticVerdict(verdict="APPROVED", confidence=0.8) if passes else a_rejection()
        for task in self.plan:
            if task.task_id == number and task.status == "NEEDS_REVIEW":
                self.replace(errored(task, 1, "no answer") if breaks else reviewed(task, 1, verdict, LIMITS))

    @rule(number=IDS, status=SETTABLE)
    def set_status(self, number, status):
        """The supervisor tries any status on any task."""
        self.tool("update_task_status", {"task_id": number, "status": status})

    @rule(number=IDS)
    def cancel(self, number):
        """The supervisor cancels."""
        self.tool("cancel_task", {"task_id": number, "reason": "not needed"})

    @precondition(lambda self: len(self.plan) < MOST_TASKS)
    @rule(capability=CAPABILITIES, waits=st.lists(IDS, max_size=3), final=st.booleans())
    def add(self, capability, waits, final):
        """The supervisor adds a task, sensible or not."""
        arguments = {"objective": "more", "capability": capability, "dependencies": waits, "is_final": final}
        self.tool("add_task", arguments)

    @rule(number=IDS, waits=st.lists(IDS, max_size=3))
    def patch(self, number, waits):
        """The supervisor rewires a task, sensibly or not."""
        self.tool("patch_task", {"task_id": number, "dependencies": waits})

    def tool(self, name, arguments):
        """A call as the model would make it, at a moment when the supervisor is asked: nobody is at work."""
        if not any(task.status in {"RUNNING", "NEEDS_REVIEW"} for task in self.plan):
            self.desk, _ = use(self.desk, tools_of("hybrid"), name, arguments)

    @invariant()
    def no_task_runs_before_its_dependencies(self):
        done = {task.task_id for task in self.plan if task.status == "COMPLETED"}
        at_work = [task for task in self.plan if task.status in {"RUNNING", "NEEDS_REVIEW"}]
        assert all(done.issuperset(task.dependencies) for task in at_work)

    @invariant()
    def nothing_leaves_its_end(self):
        now = {task.task_id: task.status for task in self.plan}
        assert self.over.items() <= now.items()
        self.over |= {n: status for n, status in now.items() if status in {"COMPLETED", "FAILED", "CANCELLED"}}

    @invariant()
    def attempts_are_runs_and_never_exceed_the_limit(self):
        assert all(task.attempts == self.runs.get(task.task_id, 0) <= LIMITS.max_attempts for task in self.plan)

    @invariant()
    def what_may_run_has_a_try_left(self):
        assert all(task.attempts < LIMITS.max_attempts for task in runnable(self.plan))

    @invariant()
    def it_stays_a_plan_with_one_final_task_at_most(self):
        assert faults(self.plan) == ()
        assert sum(task.is_final and task.status != "CANCELLED" for task in self.plan) <= 1

    @invariant()
    def the_history_ends_where_the_task_is(self):
        assert all(task.history[-1].status == task.status for task in self.plan if task.history)

    def teardown(self):
        """However it was left: a supervisor that runs all it can, and workers that always answer, come to an end."""
        if not hasattr(self, "desk"):
            return
        for _ in range(2 * LIMITS.max_attempts * len(self.plan) + 2):
            for task in self.plan:
                if task.status == "RUNNING":
                    self.replace(returned(task, 1, a_finding()))
            for task in self.plan:
                if task.status == "NEEDS_REVIEW":
                    self.replace(reviewed(task, 1, a_rejection(), LIMITS))
            for task in runnable(self.plan):
                self.replace(started(task, 1))
        assert not runnable(self.plan)
        assert not any(task.status in {"RUNNING", "NEEDS_REVIEW"} for task in self.plan)


TestPlanMachine = PlanMachine.TestCase
TestPlanMachine.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
