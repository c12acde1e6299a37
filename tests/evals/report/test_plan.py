"""The plan of a trial, in rows and told."""

from evals.report.view.page_parts import Texts
from evals.report.view.plan_graph import Picture, Pictures, TaskStory, plan_view
from tests.builders.trace import a_plan, a_task


def _picture(*tasks) -> Picture:
    pictures = Pictures()
    plan_view(a_plan(*tasks), Texts(), pictures)
    (picture,) = pictures.all()
    return picture


def _story(task) -> tuple[TaskStory, tuple[str, ...]]:
    texts = Texts()
    (story,) = plan_view(a_plan(task), texts, Pictures()).stories
    return story, texts.all()


def _titles(picture) -> list[list[str]]:
    return [[box.title for box in row] for row in picture.rows]


def test_every_task_stands_below_all_it_waits_for_and_beside_what_may_run_with_it():
    picture = _picture(a_task(1), a_task(2, 1), a_task(3, 1), a_task(4, 1, 3))

    assert _titles(picture) == [["1 investigator"], ["2 investigator", "3 investigator"], ["4 investigator"]]
    assert picture.rows[-1][0].waits == "waits for 1, 3"


def test_tasks_that_wait_for_each_other_are_shown_all_the_same():
    shown = _titles(_picture(a_task(1, 2), a_task(2, 1), a_task(3, 9)))

    assert sorted(title for row in shown for title in row) == ["1 investigator", "2 investigator", "3 investigator"]


def test_a_box_says_its_status_in_words_and_how_often_it_was_tried():
    ((box,),) = _picture(a_task(status="NEEDS_REVIEW", attempts=2)).rows

    assert (box.state, box.kind, box.waits) == ("needs review, 2 attempts", "needs_review", "waits for nothing")


def test_a_task_keeps_every_move_with_its_step_and_its_reason():
    history = (
        {"step": 1, "status": "NEEDS_REVIEW", "note": "found"},
        {"step": 1, "status": "READY", "note": "no line named\n2\tCOMPLETED"},
    )
    story, texts = _story(a_task(status="READY", history=history))

    assert texts[int(story.events)] == "1\tneeds review\tfound\n1\tready\tno line named 2 COMPLETED"


def test_what_the_worker_was_told_and_what_it_found_are_there():
    story, texts = _story(a_task(guidance="Look at line 3.", result="It is line 3."))

    assert {name: texts[int(number)] for name, number in story.texts} == {
        "objective": "Do part 1.",
        "guidance": "Look at line 3.",
        "result": "It is line 3.",
    }
