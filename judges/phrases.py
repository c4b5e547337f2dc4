"""English phrases of contentment, discontent, repetition, correction and instruction: patterns for `judges.reactions`.

`<name>` in a pattern stands for the word list of that name, `<few>` for up to three words, `<near>` for up to thirty
characters of the same sentence. Case is ignored.
"""

import re

_WORDS = {
    "reply": r"that|this|it|these|those|they|you|your \w+"
    r"|the (?:answer|reply|response|comment|explanation|result|tone)",
    "not": r"not|never|\w+n't|cannot|hardly",
    "seems": r"sounds?|reads?|looks?|feels?|seems?|comes? across|is|are|'s|'re",
    "good": "perfect|great|awesome|excellent|wonderful|lovely|brilliant|amazing|fantastic|super|sweet|nice|cool|good"
    "|neat|beautiful|terrific|ideal|spot on|better|fine|exactly|clear|correct|right|helpful|useful",
    "fault": "weird|odd|strange|off|wrong|cold|robotic|generic|confusing|stiff|fake|messy|terrible|awful|bad|useless"
    "|unhelpful|incorrect|boring|harsh|impersonal|unnatural|broken|nonsense|overkill|vague|flat|empty|artificial|copied"
    "|pointless|machine|computer|robot|bot|textbook|manual|template|form letter|ai|all over the place",
    "excess": "complicated|wordy|stiff|technical|fancy|dry|detailed|fussy|chatty|dense|pushy",
    "form": r"short\w*|brief\w*|long\w*|concise\w*|sentences?|lines?|paragraphs?|words?|steps?|lists?|bullets?|bold"
    r"|markdown|headings?|latex|formulas?|symbols?|plain\w*|simpl\w+|casual\w*|formal\w*|tone|warm\w*|kind\w*|nicer?|nicely"
    r"|friendl\w+|cold\w*|specific\w*|concrete\w*|personal\w*|answers?|results?|numbers?|notes?|expla\w+|details?|format\w*"
    r"|style|english|human|robot\w*|natural\w*|direct\w*|encourag\w+|prais\w+|different\w*|instead|myself|effort"
    r"|student|points?|it|that|this|them|things?|something|first|well",
    "do": "keep|make|write|give|tell|say|use|put|add|mention|name|include|show|explain|be|try|leave|cut|answer|reply"
    "|respond|start|begin|end|shorten|lose|remove|get rid of|get to|focus|stick|talk|sound|point out|praise|describe"
    "|drop|skip|stop|avoid|fix|redo|rewrite"
    "|rephrase|reword|simplify|change|correct|check|pick|phrase|word|format|find|go with|go easy",
    "lead": "so|and|then|ok|okay|well|now|next time|from now on|in future|in the future|instead|maybe|perhaps|please"
    "|just|only|simply|at least",
    "someone": r"any(?:one|body| \w+)|every(?:one|body)|some(?:one|body) else",
    "nobody": r"nobody|no one|no (?:kid|student|person|human|friend)",
    "source": "answer key|key|teacher|book|solution|textbook|calculator|worksheet|friend",
    "number": r"\$?\d[\d,.]*%?",
}
_WORDS = {name: f"(?:{words})" for name, words in _WORDS.items()}
_WORDS |= {"few": r"(?:\w+ ){0,3}", "near": r"[^.?!]{0,30}"}


def pattern(*phrases: str) -> re.Pattern[str]:
    """One pattern that matches any of `phrases`."""
    joined = "|".join(f"(?:{phrase})" for phrase in phrases)
    return re.compile(re.sub(r"<(\w+)>", lambda match: _WORDS[match[1]], joined), re.IGNORECASE)


PROBLEM = pattern(
    r"\bhow (?:many|much|long|far|old|fast|often)\b[^?]*\?",
    r"\bwhat (?:is|was|fraction|percent\w*)\b[^?]*\d[^?]*\?",
)
"""A word problem: its own words say nothing about the reply."""

NEW_TASK = pattern(
    r"\b(?:a|an|some|another|the) (?:\w+ ){0,2}(?:poem|story|joke|recipe|haiku|song|email|letter|riddle)\b",
    r"\b(?:a|an|some|another|the) (?:\w+ ){0,2}(?:script|function|quiz|movie|book)\b",
)
"""Something to be made that is not the reply over again."""

REFUSAL = pattern(
    r"^(?:hmm*[,.]* |well,? )?(?:no|nope|nah)\b"
    r"(?!,? (?:thanks|thank you|that's all|problem|worries|need|idea|more questions))"
)

INTERJECTION = pattern(
    r"^(?:(?:(?:no|nope|nah)[,.!…—-]+\s*"
    r"|(?:hmm*|hm|ugh|um+|uh|well|sorry|ok|okay|oh|look|wait|yeah|actually|thanks|thank you)\b[\s,.!…—-]+))+"
)

COMPLAINT = pattern(
    r"\b(?:<reply>|i)\b<near>\b<not>\b<near>\b(?:right|correct|helpful|useful|work|working|good|great|quite|clear)\b",
    r"\b(?:<reply>|i)\b<near>\b<not>\b<near>\b(?:what i|how i|like me|sense|understand|follow|fit|happy|sure)\b",
    r"\b(?:<reply>|i)\b<near>\b<not>\b<near>\b(?:enough|help|answer)\b",
    r"\b<reply>\b<near>\b<not>\b<near>\b(?:it|that|this|me|need|looking)\b",
    r"\bi (?:can't|cannot|couldn't|won't) <few>(?:hand|turn|use|read|show|send|submit|post|give|put)\b",
    r"\bi (?:\w+ )?(?:didn't|don't) <few>(?:ask|want|like|get|need)\b",
    r"\b<reply> ?<few><seems> <few><fault>\b",
    r"^<few><seems> <few><fault>\b",
    r"\b(?:too|so|way more) (?:(?:many|much) )?<form>\b",
    r"\b(?:too|so) <excess>(?:[\s.,!]*$| for\b)|\btoo (?:much|many)[\s.!]*$",
    r"\bmakes? no sense\b|\blost me\b",
    r"\bhard to (?:read|follow|understand)\b|\b(?:a lot of|wall of|so much|too much) (?:text|words|detail|reading)\b",
    r"\b(?:sounds?|reads?|looks?|feels?) like (?!me\b|i\b|a plan|fun|good)",
    r"\b<reply>(?:'s| is| are)? not (?:my|me)\b|\b<reply>(?:'s| is)? (?:missing|lacks?|lacking)\b",
    r"\bi(?:'d| would)? (?:never|don't|wouldn't) (?:write|talk|say|speak|put)\b",
    r"\bi(?:'m| am) (?:\w+ )?(?:confused|lost|disappointed|stuck)\b",
    r"\b(?:what do you mean|huh|^what)\s*\?+$",
    r"\b<nobody>\b<near>\b(?:talks?|writes?|would|says?|speaks?)\b",
    r"\b<someone> (?:could|would|can|might|gets?)\b|\b(?:could|would|can) <near>\bany(?:one|body)\b",
    r"\bmy (?:teacher|boss|mom|dad|class|students?) (?:\w+ )?(?:will|would|won't|wouldn't)\b",
    r"\bare you (?:sure|kidding|serious|joking|even)\b",
    r"\b(?:still|now) (?:\w+ )?(?:wrong|not|the same|doesn't|isn't|too|broken|fails?|failing)\b",
    r"\byou (?:keep|still|didn't|did not|forgot|missed|left out|misread|mixed up|ignored|misunderstood)\b",
    r"\bwhy (?:(?:did|do|are|would) you|so|all|is (?:it|this|that) so)\b",
    r"\b(?:thanks anyway|thanks for (?:nothing|trying)|no use|no good)\b",
    r"\bnot (?:good|great|helpful|ideal|really|quite|it|yet|there)\b",
    r"\b(?:get|got|see|gives?|throws?|with|there's) an? (?:\w+ )?(?:error|exception)\b",
    r"\b(?:it|this|that) (?:\w+ )?(?:fails|failed|crashes|crashed|(?:doesn't|won't) (?:run|compile|load|open))\b",
    r"^(?:ugh|meh|wrong|incorrect|bad|terrible|awful|useless|nope|nah|not)\b",
    r"\b(?:is that (?:all|it|really)|that's (?:it|all))\s*\?",
)

REASK = pattern(
    r"\b(?:try|do|answer|explain|say|write|ask|go over|run|read|calculate|check|solve|put|repeat)\b<near>\bagain\b",
    r"^(?:please )?(?:once )?again\b(?! thank)",
    r"\bagain,? please\b",
    r"\b(?:one more (?:time|try|go)|once more|start over|from the top|second (?:try|attempt))\b",
    r"\banother (?:try|go|attempt|shot|version|look)\b",
    r"\bre-?(?:do|try|think|check|read|write|phrase|word|calculate|consider|vise)\b",
    r"\bmy question (?:was|is|again)\b|\bsame question\b|\bhere(?:'s| is) (?:the|my) question\b",
    r"\bi (?:asked|said|already|was asking|meant|repeat)\b|\bas i said\b",
    r"\blet me (?:rephrase|ask|try|repeat|be clear)\b",
)

CORRECTION = pattern(
    r"\b(?:it|that|this|there|the (?:\w+ )?(?:answer|result|total|number)) (?:should|ought to|must|has to|needs to)\b",
    r"\b<source>\b[^.?!]{0,12}\b(?:says?|said|shows?|gives?|got|is)\b<near>(?:<number>|\bit's\b)",
    r"\bthe (?:correct|right|real|actual) (?:answer|result|number|one) (?:is|was)\b",
    r"\bactually,? (?:it's|it is|that's|the)\b|\bit(?:'s| is) actually\b",
    r"\bi think (?:it|that|the answer)(?:'s| is| should)\b<near><number>",
    r"\bi (?:get|got|have|had) <number>(?= (?:instead|though|here|for)\b|[\s.!]*$)",
    r"\b(?:it|answer|that)(?:'s| is) <number>(?: \w+)?,? not\b",
    r"\bnot <number>,? (?:but|it's)\b",
    r"\b(?:shouldn't|isn't|wasn't) (?:it|that|the answer)\b<near><number>",
)

THANKS = pattern(
    r"\b(?:thanks|thank you|thank u|thx|tysm|cheers|much appreciated|i appreciate|appreciate it|you're the best)\b",
    r"^(?:(?:o+h|ah|ok|okay|wow|yes|yeah|yep|so|very|really|pretty|all|much|now|<reply>|<seems>)[\s,!]*){0,4}\b<good>\b",
    r"\b<reply>(?: ?<seems>| works?| was)? <few><good>\b",
    r"\b(?:love|like|loved|liked) (?:it|this|that|how)\b",
    r"\bthat's it[.!]",
    r"\b(?:just|exactly) what i\b|\b(?:what|\w+) i (?:needed|wanted|was looking for)\b",
    r"\b(?:makes sense|got it|i see|i (?:get|understand) (?:it|that|now)|well done)\b",
    r"\b(?:it|that|this) (?:\w+ )?(?:works|worked|helps|helped|did it)\b|\bworks now\b|^works\b",
    r"\b(?:good|nice|great) (?:job|work|one|answer)\b",
    r"\b(?:i'll|i will|i can|gonna|let me) (?:just )?(?:use|write|put|copy|send|hand|keep|go with|note|turn)\b",
    r"^(?:yes|yep|yeah|yay|exactly|correct|right|👍|❤️?|🙏|😊)[\s.!]*$",
    r"\b(?:make|makes|made) (?:\w+ ){1,2}day\b",
)

ORDER = pattern(
    r"^(?:<lead>,? )*(?:don't|do not|never|no need|without|stop|skip|drop|avoid|quit)\b",
    r"^(?:<lead>,? )*(?:mention|include|praise|point out|acknowledge|leave out|shorten|rephrase|reword|focus on)\b",
    r"^(?:and |please )*no (?!one\b|problem|worries|idea|thanks|way\b)(?:\w+,? ){0,3}\w+(?:,| please|\.|!|$)",
    r"\bno (?:more )?(?:steps?|bullets?|lists?|bold|headings?|explanations?|formulas?|markdown|fluff|latex|extras?)\b",
)
"""What not to do, what else to speak of: an instruction whatever its object."""

REQUEST = pattern(
    r"(?:^|[:;—-] ?)(?:<lead>,? )*<do>\b",
    r"\b(?:can|could|would|will|can't|couldn't) (?:you|u) (?:(?:<lead>|also) )*<do>\b",
    r"(?:^|[,;:] ?)i (?:just |only |really )*(?:want|wanted|need|needed|prefer)\b",
    r"(?:^|[,;:] ?)i(?:'d| would) (?:just |really |rather )*(?:want|like|prefer|have)\b",
    r"\byou (?:should|could|need to|have to|must|might|can) \w+",
    r"^(?:a (?:bit|little|lot) |much |way |even )?(?:less|more|fewer|shorter|simpler|warmer|kinder|plainer|clearer)\b",
    r"^(?:<lead>,? )*(?:in )?(?:a|an|one|two|the) <few>(?:sentences?|lines?|words?|answer|number|note)\b",
    r"\b(?:is|are|'s) (?:enough|all i need)\b|\bwould (?:do|be (?:enough|better))\b",
)
"""What to do: an instruction about the reply where it also speaks of form."""

FORM = pattern(r"\b<form>\b", r"\bown words\b")
