"""The plan of a trial, drawn and told."""

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


def test_every_task_is_a_box_and_every_dependency_an_arrow():
    drawing = _picture(a_task(1), a_task(2, 1), a_task(3, 1), a_task(4, 2, 3)).drawing

    assert [box.title for box in drawing.boxes] == [f"{n} investigator" for n in (1, 2, 3, 4)]
    assert len(drawing.arrows) == 4


def test_a_box_says_its_status_in_words_and_how_often_it_was_tried():
    (box,) = _picture(a_task(status="NEEDS_REVIEW", attempts=2)).drawing.boxes

    assert (box.state, box.kind) == ("needs review, 2 attempts", "needs_review")


def test_the_drawing_is_told_in_words():
    spoken = _picture().drawing.spoken

    assert spoken == (
        "Plan of 2 tasks. Task 1, investigator, completed, waits for none. Task 2, writer, completed, waits for 1."
    )


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
        "told by the supervisor": "Look at line 3.",
        "result": "It is line 3.",
    }
