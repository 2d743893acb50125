"""chains prototype"""
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from .models import Tool
from .terms import terms, stem

_ID = {"id","ids","uuid","guid","key","number","slug","name","code","sha","ref","identifier","handle","login","username","no","num"}
_TEXT = {"q","query","search","term","text","keyword","keywords","filter","name","jql","title","email","searchtext","search_query","querystring"}

@dataclass(frozen=True)
class Provider:
    index: int
    quality: float
    text: bool

def segments(path):
    return [s for s in path.split("#")[0].split("?")[0].strip("/").split("/") if s]

def noun_of(arg):
    t=terms(arg)
    while t and (t[-1] in IDS): t=t[:-1]
    return t[-1] if t else None
IDS={stem(w) for w in _ID}
TEXT={stem(w) for w in _TEXT}

def needs(tool: Tool):
    """(noun alternatives, collection path before) of each argument that has to be found first"""
    out=[]
    segs=segments(tool.path)
    seen=set()
    for i,s in enumerate(segs):
        m=re.findall(r"\{([^}]*)\}",s)
        for p in m:
            seen.add(p)
            nouns=[]
            prev=next((x for x in reversed(segs[:i]) if "{" not in x),None)
            n=noun_of(p)
            if n: nouns.append(n)
            if i and "{" not in segs[i-1] and prev:
                pt=terms(prev)
                if pt and pt[-1] not in nouns: nouns.append(pt[-1])
            out.append((p,tuple(nouns),"/".join(segs[:i])))
    req=set(tool.input_schema.get("required",()))
    for a in tool.arguments:
        if a.location!="path" and a.name in req:
            t=terms(a.name)
            if len(t)>1 and t[-1] in {"id","ids","uuid","key"}:
                n=noun_of(a.name)
                if n: out.append((a.name,(n,),None))
            elif len(t)==1 and t[0] not in TEXT: out.append((a.name,(t[0],),None))
    return out

def has_list(schema):
    stack=[(schema,0)]
    while stack:
        s,d=stack.pop()
        if isinstance(s,dict):
            if s.get("type")=="array" or "items" in s: return True
            stack.extend((v,d+1) for v in s.values() if isinstance(v,(dict,list)))
        elif isinstance(s,list): stack.extend((v,d+1) for v in s)
    return False

def provides(tool: Tool):
    """nouns of which it lists"""
    segs=segments(tool.path)
    read = tool.method in ("GET","QUERY") or (tool.method=="POST" and segs and stem(segs[-1]) in {stem("search"),stem("query"),stem("list")})
    if not read or not segs or segs[-1].endswith("}"): return ()
    if tool.output_schema is not None and not has_list(tool.output_schema): return ()
    nouns=[]
    for s in reversed(segs):
        if "{" in s: break
        for w in terms(s): nouns.append(w)
    return tuple(dict.fromkeys(nouns))

class Chains:
    def __init__(self, tools: Sequence[Tool]):
        self.tools=tools
        self.needs=[needs(t) for t in tools]
        self.by_noun={}
        self.text=[False]*len(tools)
        self.paths=["/".join(segments(t.path)) for t in tools]
        for i,t in enumerate(tools):
            ns=provides(t)
            if ns: self.text[i]=any(a.location in ("query","body") and set(terms(a.name))&TEXT for a in t.arguments)
            for n in ns: self.by_noun.setdefault(n,[]).append(i)

    def providers(self, i):
        """(index, quality, text)"""
        out=[]
        mine=self.needs[i]
        have={n for _,ns,_ in mine for n in ns}
        for depth,(p,nouns,collection) in enumerate(mine):
            last = depth==len([m for m in mine if m[2] is not None])-1
            cands=[]
            for n in nouns:
                for j in self.by_noun.get(n,()):
                    if j==i: continue
                    theirs=self.needs[j]
                    if any(set(ns)&set(nouns) for _,ns,_ in theirs): continue
                    extra=sum(1 for _,ns,_ in theirs if not set(ns)&have)
                    q=0.75
                    if collection and self.paths[j]==collection: q=1.0
                    elif self.text[j] and not theirs: q=1.0
                    elif extra: q=0.5/extra
                    cands.append((j,q,self.text[j]))
            cands=sorted(set(cands),key=lambda c:-c[1])[:12]
            out.append((1.0 if last or collection is None else 0.7,cands))
        return out
