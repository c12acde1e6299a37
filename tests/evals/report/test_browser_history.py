"""The page of a history in a real browser that may not reach any network."""

import pytest

from evals.report.html_page import render_sheet
from evals.report.view.history_page import history_page
from tests.builders.history import a_blessing, a_flip, a_history, a_mark, a_red

pytestmark = [pytest.mark.browser, pytest.mark.slow]

HOSTILE = "</style><script>document.title='owned'</script>"
WIDTHS = [1280, 390]


def rendered(history):
    """The page of a history, as its command writes it."""
    return render_sheet("history", history_page(history), "history.css")


@pytest.fixture(scope="module")
def page_file(tmp_path_factory):
    """Thirty baselines with a change of labels, flips, red cases and a hostile subject."""
    flips = [a_flip(f"a-case-with-a-rather-long-name-{number}") for number in range(9)]
    line = [a_blessing(number, mean=0.3 + number / 60) for number in range(1, 31)]
    line[9] = a_blessing(10, marks=[a_mark("labels", "labels, issue or code of a-crash")], flips=flips)
    line[29] = a_blessing(30, subject=HOSTILE, flips=flips, unread="its baseline cannot be read")
    red = [a_red(f"a-case-with-a-rather-long-name-{number}") for number in range(20)]
    path = tmp_path_factory.mktemp("history") / "index.html"
    history = a_history(*line, red=red, missing=["This clone is shallow."])
    path.write_text(rendered(history), encoding="utf-8")
    return path


@pytest.fixture
def opened(new_page, page_file):
    """Opens it at a width; at the end it has not complained, nor asked for anything but its file."""
    complaints, requests = [], []

    def at(width: int, name: str = "index.html", scheme: str = "light"):
        page = new_page(width, 900)
        page.emulate_media(color_scheme=scheme)
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(page_file.with_name(name).as_uri())
        return page

    yield at
    assert complaints == []
    assert {url.rpartition("/")[2] for url in requests} <= {"index.html"}


@pytest.mark.parametrize("width", WIDTHS)
def test_the_page_is_no_wider_than_the_window(opened, width):
    assert opened(width).evaluate("document.documentElement.scrollWidth") == width


@pytest.mark.parametrize("width", WIDTHS)
def test_every_line_is_within_its_plot(opened, width):
    outside = """() => [...document.querySelectorAll('.plot svg')].flatMap(svg => {
        const frame = svg.getBoundingClientRect();
        return [...svg.querySelectorAll('polyline, circle, text')].map(each => each.getBoundingClientRect())
            .filter(box => box.left < frame.left - 1 || box.right > frame.right + 1 || box.bottom > frame.bottom + 1);
    }).length"""

    assert opened(width).evaluate(outside) == 0


def test_the_line_of_a_metric_is_seen_broken_at_the_change_of_labels(opened):
    page = opened(1280)

    assert page.locator("#metrics .plot").first.locator("polyline.curve").count() == 2
    assert page.locator("#metrics .plot").first.locator("polyline.rule.breaks").count() == 1


def test_the_plots_of_all_metrics_stand_side_by_side(opened):
    boxes = [plot.bounding_box() for plot in opened(1280).locator("#metrics .plot").all()]

    assert len(boxes) == 3
    assert len({box["y"] for box in boxes}) == 1


def test_old_steps_unfold(opened):
    page = opened(390)
    page.click("text=10 earlier baselines")

    assert page.locator(".blessings > li:visible").count() == 30


def test_many_flips_fold_and_unfold(opened):
    page = opened(390)
    page.locator(".flips summary").first.click()

    assert page.locator("text=a-case-with-a-rather-long-name-8").first.is_visible()


def test_a_subject_of_a_commit_cannot_act(opened):
    page = opened(1280)

    assert page.title() == "History of prompts"
    assert page.locator(f"text={HOSTILE}").first.is_visible()


def test_the_dark_page_has_dark_paper(opened):
    colour = opened(1280, scheme="dark").evaluate("getComputedStyle(document.body).backgroundColor")

    assert colour == "rgb(22, 24, 29)"
