"""`table`: the costs of a report as Markdown."""

from collections.abc import Iterable, Iterator

from .judge import Report


def table(report: Report) -> str:
    """Return two tables: the tokens of each task in each mode and their sums; and what the sums consist of."""
    head = _row(["task", "calls", *report.modes])
    rule = "|---|--:|" + "--:|" * len(report.modes)
    lines = [head, rule, *_tasks(report), *_sums(report)]
    return "\n".join([*lines, "", *_parts(report)])


def _tasks(report: Report) -> Iterator[str]:
    carried_out = {mode: report.carried_out(mode) for mode in report.modes}
    for task in report.tasks:
        costs = (
            f"{report.costs[mode][task.name].total:,}" if task in carried_out[mode] else "failed"
            for mode in report.modes
        )
        yield _row([task.name, str(report.calls[task.name]), *costs])


def _sums(report: Report) -> Iterator[str]:
    """Yield the sums over the tasks that a mode carried out, with their share of those of the first mode."""
    first = report.modes[0]
    for title, each in (("sum, the list read for each task", True), ("sum, the list read once", False)):
        cells = []
        for mode in report.modes:
            tasks = report.carried_out(mode)
            tokens = report.sum(mode, tasks, list_each_time=each)
            base = report.sum(first, tasks, list_each_time=each)
            cells.append(f"{tokens:,} ({tokens / base:.0%})" if base else "0")
        yield _row([title, f"{sum(report.calls.values()):,}", *cells])
    yield _row(["tasks carried out", str(len(report.tasks)), *(str(len(report.carried_out(m))) for m in report.modes)])


def _parts(report: Report) -> Iterator[str]:
    apis = next(iter(report.lists.values()))
    yield _row(["mode", *(f"list of {api}" for api in apis), "searches", "descriptions", "calls", "answers", "turns"])
    yield "|---|" + "--:|" * (len(apis) + 5)
    for mode in report.modes:
        total = report.total(mode, report.carried_out(mode))
        found = (total.searches, total.describes)
        parts = (*report.lists[mode].values(), *found, total.calls, total.answers, total.turns)
        yield _row([mode, *(f"{part:,}" for part in parts)])


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
