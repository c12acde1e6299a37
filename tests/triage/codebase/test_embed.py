import errno
import subprocess
import sys

import numpy as np
import pytest

from tests.builders.repository import HashEmbedder
from triage.codebase.embed import DIMENSIONS, MiniLM, VectorCache


def a_vector(text="text"):
    return HashEmbedder().embed([text])[0]


def a_cache(path=None, texts=("a", "b", "c")) -> VectorCache:
    cache = VectorCache(path)
    for text in texts:
        cache.put(text, a_vector(text))
    return cache


def test_a_saved_cache_gives_back_the_same_bits(tmp_path):
    path = a_cache().save(tmp_path / "vectors.npz")

    assert VectorCache(path).get("b").tobytes() == a_vector("b").tobytes()
    assert VectorCache(path).get("unknown") is None


def test_the_same_vectors_are_the_same_bytes_in_whatever_order_they_came(tmp_path):
    """A committed cache must not change without a reason."""
    first = a_cache(texts=("a", "b", "c")).save(tmp_path / "first.npz")
    second = a_cache(texts=("c", "a", "b")).save(tmp_path / "second.npz")

    assert first.read_bytes() == second.read_bytes()


def test_an_empty_cache_can_be_saved_and_read(tmp_path):
    assert len(VectorCache(VectorCache().save(tmp_path / "none.npz"))) == 0


def test_of_two_that_save_side_by_side_neither_loses_the_others_vectors(tmp_path):
    place = a_cache(texts=("a",)).save(tmp_path / "vectors.npz")
    one, other = a_cache(place, texts=("b",)), a_cache(place, texts=("c",))

    one.save()
    other.save()

    assert len(VectorCache(place)) == 3


def test_a_cache_without_a_path_asks_for_one():
    with pytest.raises(ValueError, match="path"):
        a_cache().save()


@pytest.mark.slow
def test_known_texts_never_reach_the_model():
    """The start of a replay must not pay for a model that it does not ask."""
    code = (
        "import sys; sys.path.insert(0, '.')\n"
        "from tests.builders.repository import HashEmbedder\n"
        "from triage.codebase.embed import MiniLM, VectorCache\n"
        "cache = VectorCache(); cache.put('known', HashEmbedder().embed(['known'])[0])\n"
        "model = MiniLM(cache); model.embed(['known'])\n"
        "assert model.computed == 0\n"
        "assert not {'onnxruntime', 'tokenizers', 'chromadb', 'bm25s'} & set(sys.modules), 'loaded'\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=300)


@pytest.mark.slow
class TestTheRealModel:
    model = MiniLM()

    def test_a_vector_has_length_one_up_to_float16(self):
        vectors = self.model.embed(["def add(a, b): return a + b", "x"])

        assert vectors.shape == (2, DIMENSIONS)
        assert vectors.dtype == np.float16
        assert np.linalg.norm(vectors.astype(float), axis=1) == pytest.approx(1, abs=1e-3)

    def test_it_puts_close_what_means_the_same(self):
        near, same, far = self.model.embed(["send an email", "deliver mail to a user", "matrix multiplication"])

        assert near.astype(float) @ same.astype(float) > near.astype(float) @ far.astype(float) + 0.2

    def test_a_text_has_the_same_bits_whatever_stands_beside_it(self):
        alone = self.model.embed(["short"])
        beside = MiniLM().embed(["a much longer text " * 30, "short"])

        assert alone[0].tobytes() == beside[1].tobytes()

    def test_text_beyond_the_token_limit_does_not_count(self):
        long = "word " * 400

        assert self.model.embed([long])[0].tobytes() == self.model.embed([long + "tail"])[0].tobytes()

    def test_an_unknown_text_is_computed_once(self):
        model = MiniLM()
        model.embed(["new", "new"])

        assert model.computed == 1


def test_a_save_that_fails_leaves_the_old_file_and_nothing_beside_it(tmp_path, monkeypatch):
    before = a_cache().save(tmp_path / "vectors.npz").read_bytes()

    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(np, "savez", full)
    with pytest.raises(OSError, match="No space left"):
        a_cache(texts=("z",)).save(tmp_path / "vectors.npz")

    assert [path.name for path in tmp_path.iterdir()] == ["vectors.npz"]
    assert (tmp_path / "vectors.npz").read_bytes() == before
