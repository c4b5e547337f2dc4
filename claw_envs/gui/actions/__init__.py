"""One parser of what agents write on screens, in every form, and the prompts that teach the forms."""

from claw_envs.gui.actions.frame import Coordinates, Frame
from claw_envs.gui.actions.parse import parse
from claw_envs.gui.actions.prompts import prompt
from claw_envs.gui.actions.spaces import SPACES, Space
from claw_envs.gui.actions.vocabulary import Parsed

__all__ = ["SPACES", "Coordinates", "Frame", "Parsed", "Space", "parse", "prompt"]
