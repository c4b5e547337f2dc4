"""What commands of a task leave open: the password of the machine's user, and the size of its screen."""

from claw_envs.gui.osworld.place import Place

Command = str | list[str]


def filled(command: Command, place: Place) -> Command:
    """`command` with `{CLIENT_PASSWORD}`, `{SCREEN_WIDTH}`, `{SCREEN_HEIGHT}` and the two `…_HALF` filled in."""
    width, height = place.machine.size
    values = {
        "{CLIENT_PASSWORD}": place.password,
        "{SCREEN_WIDTH_HALF}": str(width // 2),
        "{SCREEN_HEIGHT_HALF}": str(height // 2),
        "{SCREEN_WIDTH}": str(width),
        "{SCREEN_HEIGHT}": str(height),
    }
    if isinstance(command, str):
        for name, value in values.items():
            command = command.replace(name, value)
        return command
    return [str(filled(str(part), place)) for part in command]
