"""Pages with mails, posts or contacts, of which the right one is found and something done with it."""

import re
from collections.abc import Sequence

from evals.gui.experts.miniwob.calls import box_of, click, click_at, fill, hover, inside, move_to, wait
from evals.gui.experts.miniwob.registry import solves
from evals.gui.experts.miniwob.seen import Moves, Part, Seen
from evals.gui.experts.page import Node
from evals.gui.experts.policy import Stuck

_POST_ICONS = {"Reply": 18, "Retweet": 51, "Like": 83, "Share": 115, "More": 115}
"""Where icons stand below the name over a post, to the right of its left edge; a line of text is 11 high."""


@solves(
    "email-inbox",
    "email-inbox-delete",
    "email-inbox-forward",
    "email-inbox-important",
    "email-inbox-noscroll",
    "email-inbox-reply",
    "email-inbox-star-reply",
)
def inbox(seen: Seen) -> Moves:
    (sender,) = seen.asked("the email by (.*?) and ")
    if "trash" in seen.task or "star icon" in seen.task:
        yield from _mark(seen, sender, trash="trash" in seen.task)
    elif text := seen.quoted():
        yield from _reply(seen, sender, text[0])
    else:
        yield from _forward(seen, sender, *seen.asked("forward that email to (.*)[.]"))


@solves("email-inbox-forward-nl", "email-inbox-forward-nl-turk", "email-inbox-nl-turk")
def inbox_in_free_words(seen: Seen) -> Moves:
    named = _named(seen)
    if texts := seen.quoted():
        yield from _reply(seen, named[0], texts[0])
    elif len(named) == 2:
        yield from _forward(seen, *_who_to_whom(seen.task, named))
    else:
        yield from _mark(seen, named[0], trash=bool(re.search("delet|trash|remove|rid|erase|bin", seen.task.lower())))


@solves("social-media")
def post_of_a_user(seen: Seen) -> Moves:
    user, action = seen.asked('the user (@.*), click on the "(.*)" button')
    (post, *_) = _posts(seen, user)
    if action in ("Reply", "Retweet", "Like"):
        yield from _click_icon(seen, post, action)
    else:
        seen = yield from _click_icon(seen, post, "More")
        yield [click(seen.first(lambda node: node.role == "listitem" and node.name.startswith(action)))]


@solves("social-media-all", "social-media-some")
def posts_of_a_user(seen: Seen) -> Moves:
    (action,), (user,) = seen.quoted(), seen.asked(r"by (@\S+) and then")
    posts = _posts(seen, user)
    if count := re.search(r"on (\d+) posts?", seen.task):
        posts = posts[: int(count[1])]
    for post in posts:
        seen = yield from _click_icon(seen, post, action)
    yield [click(seen.one("button", "Submit"))]


@solves("phone-book")
def contact(seen: Seen) -> Moves:
    name, kind = seen.asked("Find (.*) in the contact book and click on their (phone|email|address)")
    while seen.maybe("heading", name) is None:
        seen = yield [click(seen.one(None, ">"))]
    index = ["phone", "email", "address"].index(kind)
    labels = seen.matching("(Phone|Email|Address):")
    yield [click(seen.nodes[seen.nodes.index(labels[index]) + 1])]


def _posts(seen: Seen, user: str) -> list[Node]:
    return [node for node in seen.nodes if user in node.name.split(" ")]


def _click_icon(seen: Seen, post: Node, name: str) -> Part:
    """Scrolls until what follows the post can be seen, and clicks an icon of the post; ends with what is seen then."""
    texts = [node for node in seen.nodes if node.name]
    seen = yield [hover(texts[min(texts.index(seen.again(post)) + 2, len(texts) - 1)])]
    x, y, _, height = box_of(seen.again(post))
    icon = (x + _POST_ICONS[name] * height // 11, y + 49 * height // 11)
    return (yield [move_to(icon), click_at(icon)])  # an icon changes its picture first, which has to load


def _mark(seen: Seen, sender: str, *, trash: bool) -> Moves:
    seen = yield [click(_mail(seen, sender))]
    while len(_icons(seen)) < 3:
        seen = yield [wait(0.2)]
    yield [click(_icons(seen)[1 if trash else 2])]


def _reply(seen: Seen, sender: str, text: str) -> Moves:
    yield from _answer(seen, sender, 0.3, text)


def _forward(seen: Seen, sender: str, receiver: str) -> Moves:
    yield from _answer(seen, sender, 0.7, receiver)


def _answer(seen: Seen, sender: str, place: float, text: str) -> Moves:
    """Opens a mail, clicks one of the two words under it, fills the first field and sends it."""
    seen = yield [click(_mail(seen, sender))]
    seen = yield [hover(seen.one("generic", "Reply Forward"))]
    seen = yield [click_at(inside(seen.one("generic", "Reply Forward"), place, 0.5))]
    while len(_icons(seen)) < 2:
        seen = yield [wait(0.2)]
    yield [fill(seen.one("textbox"), text), click(_icons(seen)[1])]


def _mail(seen: Seen, sender: str) -> Node:
    return seen.first(lambda node: node.name.split(" ")[0] == sender)


def _icons(seen: Seen) -> list[Node]:
    """What has no name: leave, trash and star above a mail, leave and send above an answer."""
    return [node for node in seen.all("generic") if not node.name]


def _named(seen: Seen) -> list[str]:
    """Who is named in the request and has written a mail, in the request's order."""
    senders = {node.name.split(" ")[0] for node in seen.all("generic") if node.name}
    named = [name for name in senders if re.search(rf"\b{name}", seen.task)]
    if not named:
        raise Stuck(f"nobody in {seen.task!r} has written")
    return sorted(named, key=seen.task.find)


def _who_to_whom(task: str, named: Sequence[str]) -> tuple[str, str]:
    """Which of two people wrote the mail, and who is to have it."""
    first, second = named
    wrote = rf"(from|by|that|message|information|mail|got) {second}|{second}('s|s'| sent| wrote| wants his)"
    return (second, first) if re.search(wrote, task) else (first, second)
