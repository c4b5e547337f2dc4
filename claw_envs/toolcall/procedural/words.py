"""Families of text: letters that are counted, text that is rewritten, words in order."""

from collections import Counter

from claw_envs.toolcall.procedural.draw import Draw
from claw_envs.toolcall.procedural.problem import Problem, listed, number, text
from claw_envs.toolcall.procedural.vocabulary import WORDS

_ALPHABET = "abcdefghijklmnopqrstuvwxyz"


def letters(draw: Draw, level: int) -> Problem:
    """Letters of a word or a line of words, counted; those that occur an odd number of times; a weighted sum."""
    if level == 1:
        word = draw.choice(WORDS)
        letter = draw.choice(word)
        if draw.below(2):
            question = draw.choice((f"How many letters are in the word '{word}'?", f"How long is the word '{word}'?"))
            return number(question, len(word), f"print(len('{word}'))")
        question = f"How many times does the letter '{letter}' occur in '{word}'?"
        return number(question, word.count(letter), f"print('{word}'.count('{letter}'))")
    line = " ".join(draw.sample(WORDS, (0, 5, 9, 14, 20)[level - 1]))
    if level == 2:
        letter = draw.choice(line.replace(" ", ""))
        question = draw.choice(
            (
                f"How many times does the letter '{letter}' occur in '{line}'?",
                f"Count the letter '{letter}' in '{line}'.",
            )
        )
        return number(question, line.count(letter), f"print('{line}'.count('{letter}'))")
    if level == 3:
        question = draw.choice(
            (f"How many vowels (a, e, i, o, u) are in '{line}'?", f"Count the vowels (a, e, i, o, u) of '{line}'.")
        )
        return number(question, sum(map(line.count, "aeiou")), f"print(sum(c in 'aeiou' for c in '{line}'))")
    if level == 4:
        question = f"How many different letters occur an odd number of times in '{line}'?"
        odd = sum(times % 2 for letter, times in Counter(line).items() if letter != " ")
        return number(question, odd, f"s = '{line}'\nprint(sum(s.count(c) % 2 for c in set(s) - {{' '}}))")
    question = (
        f"Take '{line}'. Give a the value 1, b the value 2, and so on to z with 26. Multiply the value of each letter "
        "by its position in its word, counted from 1, and add up all the products. What is the sum?"
    )
    value = sum(place * (_ALPHABET.index(letter) + 1) for word in line.split() for place, letter in enumerate(word, 1))
    code = f"print(sum(i * (ord(c) - 96) for w in '{line}'.split() for i, c in enumerate(w, 1)))"
    return number(question, value, code)


def rewrite(draw: Draw, level: int) -> Problem:
    """Text reversed, shifted in the alphabet, picked apart, enciphered."""
    if level == 1:
        word = draw.choice(WORDS)
        question, answer, code = draw.choice(
            (
                (f"Write the word '{word}' backwards.", word[::-1], "[::-1]"),
                (f"What are the last four letters of '{word}'?", word[-4:], "[-4:]"),
                (f"What are the first three letters of '{word}'?", word[:3], "[:3]"),
                (f"Write '{word}' twice, without a space.", word * 2, " * 2"),
            )
        )
        return text(question, answer, f"print('{word}'{code})")
    if level == 2:
        word, shift = draw.choice(WORDS), draw.between(3, 23)
        question = f"Shift every letter of '{word}' forward by {shift} places in the alphabet, going from z on to a."
        return text(question, _shifted(word, [shift]), _shifting(word, [shift]))
    if level == 3:
        line, step = "".join(draw.sample(WORDS, 6)), draw.between(3, 5)
        question = f"Take every {step}th letter of '{line}', that is, letters {step}, {2 * step}, and so on."
        question = f"{question.replace('3th', '3rd')} What text do they make?"
        return text(question, line[step - 1 :: step], f"print('{line}'[{step - 1}::{step}])")
    if level == 4:
        line, shift = " ".join(draw.sample(WORDS, 5)), draw.between(3, 23)
        question = (
            f"Take '{line}'. Put the words in alphabetical order, write each one backwards, and join them without "
            f"spaces. Then shift every letter forward by {shift} places in the alphabet, going from z on to a. "
            "What text is that?"
        )
        joined = "".join(word[::-1] for word in sorted(line.split()))
        source = f"''.join(w[::-1] for w in sorted('{line}'.split()))"
        return text(question, _shifted(joined, [shift]), _shifting(source, [shift], quoted=True))
    line, key = "".join(draw.sample(WORDS, 3)), draw.choice(WORDS)
    question = (
        f"Encipher '{line}' with the Vigenere cipher and the key '{key}': the letter a of the key shifts by 0, b by 1, "
        "and so on, and the key is repeated as often as needed. What is the result?"
    )
    shifts = [_ALPHABET.index(letter) for letter in key]
    return text(question, _shifted(line, shifts), _shifting(line, shifts))


def _shifted(word: str, shifts: list[int]) -> str:
    turned = [(_ALPHABET.index(letter) + shifts[place % len(shifts)]) % 26 for place, letter in enumerate(word)]
    return "".join(_ALPHABET[index] for index in turned)


def _shifting(word: str, shifts: list[int], *, quoted: bool = False) -> str:
    source = word if quoted else f"'{word}'"
    turned = "chr((ord(c) - 97 + k[i % len(k)]) % 26 + 97)"
    return f"k = {shifts}\nprint(''.join({turned} for i, c in enumerate({source})))"


def order(draw: Draw, level: int) -> Problem:
    """Words in order: of the alphabet, of their length, of their last letters."""
    words = draw.sample(WORDS, (3, 8, 14, 18, 25)[level - 1])
    shown, place = listed(words), draw.between(1, len(words))
    if level == 1:
        which, code = draw.choice((("first", "min"), ("last", "max")))
        question = draw.choice(
            (
                f"Which word comes {which} in the alphabet: {shown}?",
                f"Of the words {shown}, which comes {which} alphabetically?",
            )
        )
        return text(question, sorted(words)[0 if which == "first" else -1], f"print({code}({words}))")
    if level == 2:
        question = draw.choice(
            (
                f"Sort these words alphabetically: {shown}. Which word is number {place}?",
                f"Which word is number {place} in alphabetical order: {shown}?",
            )
        )
        return text(question, sorted(words)[place - 1], f"print(sorted({words})[{place - 1}])")
    if level == 3:
        question = f"Sort these words by length, and words of equal length alphabetically: {shown}."
        answer = sorted(words, key=lambda word: (len(word), word))[place - 1]
        code = f"print(sorted({words}, key=lambda w: (len(w), w))[{place - 1}])"
        return text(f"{question} Which word is number {place}?", answer, code)
    question = f"Sort these words by their letters read backwards, from the last to the first: {shown}."
    ranked = sorted(words, key=lambda word: word[::-1])
    code = f"r = sorted({words}, key=lambda w: w[::-1])\n"
    if level == 4:
        return text(f"{question} Which word is number {place}?", ranked[place - 1], f"{code}print(r[{place - 1}])")
    initials = "".join(word[0] for word in ranked)
    return text(f"{question} What do their first letters spell?", initials, f"{code}print(''.join(w[0] for w in r))")
