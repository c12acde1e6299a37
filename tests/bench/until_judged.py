"""How many answers `evals record --until-judged` does not ask on the shipped recordings, as if the candidate were new.

`python -m tests.bench.until_judged` prints them, trial by trial in the order of the command, one after the other.
"""

import sys

from evals.comparison.assemble_run import verdict_of
from evals.comparison.curtailment import Curtailment
from evals.runner.trials import trial_id
from tests.builders.unasked import Unasked, answers_of, changes


def main() -> int:
    print("| change | verdict | trials not asked | answers not asked |\n|---|---|---|---|")
    for name, whole in changes().items():
        answers = answers_of(whole)
        run = Unasked(whole, answers.keys())
        order = [trial_id(trial.trace) for trial in Curtailment(run.with_only(())).to_ask()]
        left = order[run.needed(order) :]
        share = sum(map(answers.__getitem__, left)) / sum(answers.values())
        print(f"| {name} | {verdict_of(whole).status} | {len(left)} of {len(answers)} | {share:.0%} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
