"""What only a certified solver has: certificates, verdicts of the independent checker, proofs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Callable


@dataclass
class Verdict:
    """What the independent checker found; true when nothing that it looked at fails.

    level: "numbers" (the claim holds for the problem in the model), "problem" (that is what data and settings
    give) or "repeat" (training again gives the same model); None when not even the numbers hold. checked and
    not_checked: every field of the model, with its level or the reason.
    """

    confirmed: bool
    claim: str
    checks: list[dict[str, Any]]
    level: str | None = None
    statement: str = ""
    checked: list[dict[str, str]] = field(default_factory=list, repr=False)
    not_checked: list[dict[str, str]] = field(default_factory=list, repr=False)

    def __bool__(self) -> bool:
        return self.confirmed

    def __str__(self) -> str:
        words = {"holds": "ok     ", "fails": "FAILED ", "trusted": "trusted"}
        lines = [f"{'confirmed at level ' + str(self.level) if self.confirmed else 'NOT confirmed'}: {self.claim}"]
        lines += [f"  {words[c['finding']]} {c['level']:8} {c['check']}: {c['detail']}" for c in self.checks]
        return "\n".join(lines)


@dataclass
class Certificate:
    """What is proven of a metric: the optimum lies in [lower, upper], and the cap on distortion holds."""

    status: str
    lower: float | None
    upper: float | None
    gap: float | None
    distortion: float | None
    kappa: float | None
    reference: str | None
    details: dict[str, Any] = field(repr=False)
    _check: Callable[..., Verdict] = field(repr=False, compare=False)

    def verify(self, X: Any, y: Any = None, level: str = "auto") -> Verdict:
        """Check the claim against the data it was learned from, by code that shares nothing with the solver.

        level: how far; "auto" is the highest of "numbers" and "problem" that holds, "repeat" trains again.
        """
        return self._check(X, y, level)


class InfeasibleError(ValueError):
    """It is proven that no metric meets the hard constraints.

    Attributes
    ----------
    rows : list of tuple
        The constraints that contradict each other, weightiest first: (i, j, k) for "i is nearer to j than to k",
        (i, k) for "i and k are apart"; numbers of rows of the data.
    certificate : dict
        The figures of the proof.
    """

    def __init__(self, message: str, certificate: dict[str, Any], check: Callable[[Any, Any], Verdict]):
        super().__init__(message)
        self._check = check
        self.certificate = certificate
        found = certificate.get("contradictions", [])
        self.rows = [(c["i"], c["k"]) if c["j"] is None else (c["i"], c["j"], c["k"]) for c in found]

    def verify(self, X: Any, y: Any = None) -> Verdict:
        """Check the proof against the data, independently."""
        return self._check(X, y)

    def __reduce__(self) -> Any:
        return InfeasibleError, (str(self), self.certificate, self._check)
