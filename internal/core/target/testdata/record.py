#!/usr/bin/python3
"""Record what compounds mean by Python's own evaluation: compound.json.

A is a word that matches and B one that does not. Salt puts "and" before a
"not" that does not follow an operator, refuses "and" and "or" at the start and
behind "(", and takes what Python cannot evaluate for false.
"""
import json
import random


def meaning(words):
    out = []
    for w in words:
        if w in ("A", "B"):
            out.append(str(w == "A"))
        elif not out:
            if w not in ("(", "not"):
                return False
            out.append(w)
        else:
            if out[-1] == "(" and w in ("and", "or"):
                return False
            if w == "not" and out[-1] not in ("and", "or", "("):
                out.append("and")
            out.append(w)
    try:
        return bool(eval(" ".join(out)))
    except Exception:
        return False


def main():
    rng = random.Random(3006)
    seen = {}
    while len(seen) < 1500:
        if rng.random() < 0.3:
            words = [rng.choice(["A", "B", "and", "or", "not", "(", ")"]) for _ in range(rng.randint(1, 8))]
        else:
            def expr(d):
                c = rng.random()
                if d == 0 or c < 0.3:
                    return [rng.choice("AB")]
                if c < 0.5:
                    return ["not"] + expr(d - 1)
                if c < 0.7:
                    return ["("] + expr(d - 1) + [")"]
                return expr(d - 1) + [rng.choice(["and", "or", "and", "or", "not"])] + expr(d - 1)
            words = expr(4)
        s = " ".join(words)
        if "( )" in s or len(words) > 40:
            continue
        seen[s] = meaning(words)
    with open("compound.json", "w") as f:
        json.dump([[k, v] for k, v in seen.items()], f, indent=0)


main()
