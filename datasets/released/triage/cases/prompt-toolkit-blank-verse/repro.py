"""A mark for the cursor on a blank line puts the cursor on that line."""

from prompt_toolkit.layout import FormattedTextControl

song = ["first verse", "", "second verse", ""]

for chosen in range(len(song)):
    rows = [("[SetCursorPosition]" if number == chosen else "", line + "\n") for number, line in enumerate(song)]
    shown = FormattedTextControl(rows, focusable=True).create_content(80, 10)
    assert shown.cursor_position.y == chosen, (chosen, shown.cursor_position)
