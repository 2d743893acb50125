"""search prototype"""
import sqlite3
import re
from .chains import Chains
from collections.abc import Iterator, Sequence
from typing import Any
from .models import Tool
from .synonyms import METHODS, SUBJECTS, WANTS
from .terms import terms

COLUMNS = {"name": 1.0, "path": 1.0, "title": 1.0, "description": 0.35, "arguments": 0.25, "response": 0.25, "tags": 0.4, "concepts": 0.3, "want": 0.15}

STOP = frozenset(t for t in terms("a an the of to in on for with and or by from at as it its this that these those i me my we our you your he his she her they them their be is are was were am do does did has have had can could would should will may please want need give tell show me some any all about what which who whom whose when where how why there also just if then than so not no get let us like one into out up back more most"))

class Search:
    def __init__(self, tools: Sequence[Tool]):
        self.tools = tuple(tools)
        self.db = sqlite3.connect(":memory:", check_same_thread=False)
        cols = ", ".join(COLUMNS)
        self.db.execute(f"CREATE VIRTUAL TABLE entries USING fts5({cols}, content='', tokenize=\"unicode61 tokenchars '='\")")
        self.db.executemany(f"INSERT INTO entries(rowid, {cols}) VALUES (?{', ?' * len(COLUMNS)})", ([i, *row(t)] for i, t in enumerate(self.tools)))
        self.db.execute("CREATE VIRTUAL TABLE vocab USING fts5vocab(entries, 'row')")
        self.vocabulary = {w for (w,) in self.db.execute("SELECT term FROM vocab")}
        self.chains = Chains(self.tools)
        self.weights = ", ".join(str(w) for w in COLUMNS.values())

    def find(self, query: str, limit: int) -> list[Tool]:
        words = [t for t in dict.fromkeys(terms(query))]
        plain = [w for w in words if w not in STOP]
        concepts = list(dict.fromkeys(c for w in plain for c in SUBJECTS.get(w, ())))
        wants = list(dict.fromkeys(c for w in words for c in WANTS.get(w, ())))
        match = " OR ".join([f'"{w}"' for w in plain] + [f'"{c}"' for c in concepts] + [f'"==ẘ{c}"'.replace("ẘ","") for c in wants])
        if not match: return []
        rows = self.db.execute(f"SELECT rowid, bm25(entries, {self.weights}) FROM entries WHERE entries MATCH ? ORDER BY 2 LIMIT 200", (match,)).fetchall()
        own = {r: -s for r, s in rows}
        if not own: return []
        names = bool([w for w in plain if w not in self.vocabulary]) or bool(re.search(r"(?<!^)(?<![.?!] )\b[A-Z]|[\"']\w", query))
        boost = {}
        front = [(r, s) for r, s in list(own.items())[:P["K"]]]
        for round_ in range(2):
            nxt = {}
            for r, s in front:
                for w, cands in self.chains.providers(r):
                    for j, q, text in cands:
                        f = P["text"] if text and names else (P["textno"] if text else (P["listnames"] if names else 1.0))
                        v = s * w * q * f * P["alpha"] + P["gamma"]*own.get(j, 0)
                        if v > boost.get(j, 0):
                            boost[j] = v; nxt[j] = v
            front = [(j, v) for j, v in nxt.items()]
        final = {r: P["beta"]*min(own.get(r, 0),boost.get(r, 0)) + max(own.get(r, 0),boost.get(r, 0)) for r in {**own, **boost}}
        best = sorted(final, key=lambda r: (-final[r], r))
        return [self.tools[r] for r in best[:limit]]

P = dict(K=20, text=1.0, textno=0.8, listnames=0.6, alpha=0.8, beta=0.3, gamma=0.1)

def row(t: Tool):
    name = terms(t.name)
    path = [w for w in terms(t.path)]
    title = terms(t.title or "")
    d = t.description
    description = terms(d)[:60]
    args = [w for a in t.arguments for w in terms(a.name)][:60]
    resp = list(dict.fromkeys(w for n in properties(t.output_schema) for w in terms(n)))[:120]
    tags = terms(" ".join(t.tags))
    core = dict.fromkeys([*name, *path, *title, *description, *tags])
    concepts = dict.fromkeys(c for w in core for c in SUBJECTS.get(w, ()))
    want = ["==" + METHODS.get(t.method, "create")]
    return [" ".join(x) for x in (name, path, title, description, args, resp, tags, concepts, want)]

def properties(schema: Any) -> Iterator[str]:
    stack=[schema]
    while stack:
        s=stack.pop()
        if isinstance(s,dict):
            p=s.get("properties")
            if isinstance(p,dict): yield from p
            stack.extend(v for v in s.values() if isinstance(v,(dict,list)))
        elif isinstance(s,list):
            stack.extend(s)
