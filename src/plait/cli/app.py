"""The commands and their options."""

from __future__ import annotations

import json as jsonlib
from enum import StrEnum
from typing import Annotated, Any

import typer

import plait
from plait.cli.source import read_cassette, sources
from plait.cli.status import HELP, BadArgumentsError, Status, run
from plait.wire import WIRES

app = typer.Typer(
    name="plait",
    help="Turns every LLM provider's wire format into one event vocabulary.",
    epilog="Example: plait events cassettes/anthropic/text.yaml",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


class Format(StrEnum):
    """How `plait events` prints."""

    JSONL = "jsonl"
    TABLE = "table"


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"plait {plait.__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Turns every LLM provider's wire format into one event vocabulary."""


@app.command(epilog=HELP)
def events(
    file: Annotated[
        str, typer.Argument(help="A response's raw body, or a cassette (YAML); - reads standard input.")
    ],
    wire: Annotated[
        str | None,
        typer.Option(
            metavar="WIRE",
            help=f"The body's wire format: {', '.join(WIRES)}. A cassette says it, or it is guessed.",
        ),
    ] = None,
    dialect: Annotated[
        str | None, typer.Option(metavar="NAME", help="The server's dialect, where shapes conflict.")
    ] = None,
    chunk: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Feed N bytes at a time: the events are the same.")
    ] = None,
    interaction: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Only the cassette's Nth response.")
    ] = None,
    format: Annotated[
        Format, typer.Option(help="JSON lines; or, for people, each frame beside the events it caused.")
    ] = Format.JSONL,
) -> None:
    """Print the events of a response, one JSON object a line, as they come."""

    def command() -> Status:
        found = sources(file, wire, dialect, chunk=chunk, number=interaction)
        if format is Format.TABLE:
            from plait.cli.table import print_table

            return print_table(found)
        from plait.cli.events import print_lines

        return print_lines(found)

    run(command)


@app.command(epilog=HELP)
def play(
    cassette: Annotated[str, typer.Argument(help="A cassette (YAML); - reads standard input.")],
    speed: Annotated[float, typer.Option(metavar="X", help="X times as fast as it was.")] = 1.0,
    no_delay: Annotated[bool, typer.Option("--no-delay", help="Do not wait at all.")] = False,
) -> None:
    """Show a recorded response as it looked live, with its timing."""

    def command() -> Status:
        if not 0 < speed < float("inf"):
            raise BadArgumentsError(f"--speed: expected a number above 0, such as 2, got {speed:g}")
        from plait.cli.play import play as play_cassette

        return play_cassette(cassette, read_cassette(cassette), speed=speed, delay=not no_delay)

    run(command)


PATHS_HELP = "Cassettes (vcrpy or Ruby VCR), bodies, folders of them, or a corpus with an index.jsonl."
WIRE_HELP = "The wire format of bodies that do not say theirs; recordings of another are skipped."
JOBS_HELP = "Processes; all cores unless there is little to read."


@app.command(
    epilog="Exit status: 0 all laws hold; 1 something is broken; 2 bad arguments, or no recording found."
)
def check(
    paths: Annotated[list[str], typer.Argument(metavar="PATH...", help=PATHS_HELP)],
    wire: Annotated[str | None, typer.Option(metavar="WIRE", help=WIRE_HELP)] = None,
    law: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Only this law; may be said several times."),
    ] = None,
    json: Annotated[
        str | None, typer.Option(metavar="REPORT", help="Write a report; - prints it instead of the table.")
    ] = None,
    jobs: Annotated[int | None, typer.Option(min=1, metavar="N", help=JOBS_HELP)] = None,
    fail_fast: Annotated[bool, typer.Option("--fail-fast", help="Stop at the first breach.")] = False,
) -> None:
    """Check the laws on recorded responses: streams, whole bodies and errors."""

    def command() -> Status:
        from plait.cli.check import check as check_paths

        return check_paths(paths, wire=wire, laws=law or [], report=json, jobs=jobs, fail_fast=fail_fast)

    run(command)


@app.command(
    epilog="Exit status: 0; with --since 1 when something is new; 2 bad arguments, or no recording found."
)
def drift(
    paths: Annotated[list[str], typer.Argument(metavar="PATH...", help=PATHS_HELP)],
    wire: Annotated[str | None, typer.Option(metavar="WIRE", help=WIRE_HELP)] = None,
    since: Annotated[
        str | None, typer.Option(metavar="BASELINE", help="Show only what this baseline does not list.")
    ] = None,
    json: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Write it as JSON; - prints that instead of tables."),
    ] = None,
    write_baseline: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write a baseline; reasons that FILE has are kept.")
    ] = None,
    jobs: Annotated[int | None, typer.Option(min=1, metavar="N", help=JOBS_HELP)] = None,
) -> None:
    """List what recordings contain that no parser reads: events, blocks, values, fields."""

    def command() -> Status:
        from plait.cli.drift import find_drift

        return find_drift(
            paths, wire=wire, since=since, report=json, write_baseline=write_baseline, jobs=jobs
        )

    run(command)


@app.command(
    epilog="Exit status: 0 the request can be made; 2 bad arguments, or a history the target refuses."
)
def plan(
    transcript: Annotated[str, typer.Argument(help="A JSON list of messages; - reads standard input.")],
    to: Annotated[str, typer.Option("--to", metavar="PROVIDER/MODEL", help="Who is to be asked.")],
    options: Annotated[
        str, typer.Option("--options", metavar="JSON", help='Request options, such as {"reasoning": "low"}.')
    ] = "{}",
    repair: Annotated[
        bool, typer.Option("--repair", help="Mend what the target would refuse, with a note.")
    ] = False,
    body: Annotated[bool, typer.Option("--body", help="Print the request's JSON body instead.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print body and notes as JSON.")] = False,
) -> None:
    """Show what a target makes of a transcript: what is sent, dropped, renamed, moved or refused, and why."""

    def command() -> Status:
        from plait.cli.plan import plan as show_plan

        return show_plan(transcript, to, _options(options), repair=repair, body=body, as_json=as_json)

    run(command)


OPTIONS_HELP = 'Request options, such as {"reasoning": "low"}.'


@app.command(epilog=HELP + " 1 no answer came.")
def ask(
    model: Annotated[
        str, typer.Argument(metavar="PROVIDER/MODEL", help="Who is asked; mock/any needs no key.")
    ],
    question: Annotated[str, typer.Argument(help="What is asked; - reads standard input.")],
    system: Annotated[str | None, typer.Option(metavar="TEXT", help="A system message.")] = None,
    options: Annotated[str, typer.Option("--options", metavar="JSON", help=OPTIONS_HELP)] = "{}",
    wire: Annotated[
        str | None, typer.Option(metavar="WIRE", help="The wire format, in place of the provider's.")
    ] = None,
    base_url: Annotated[str | None, typer.Option(metavar="URL", help="In place of the provider's.")] = None,
    set: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE", help="What the provider's address needs, such as region=eu-west-1."
        ),
    ] = None,
    timeout: Annotated[
        float | None, typer.Option(metavar="SECONDS", help="For the whole call, retries included.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the events as JSON lines.")] = False,
) -> None:
    """Ask a model, and show its answer as it comes. The key is taken from the environment."""

    def command() -> Status:
        from plait.cli.ask import ask as ask_model
        from plait.transport import Timeouts

        if timeout is not None and not timeout > 0:
            raise BadArgumentsError(f"--timeout: expected seconds above 0, got {timeout:g}")
        settings = {}
        for item in set or []:
            name, equals, value = item.partition("=")
            if not equals:
                raise BadArgumentsError(f"--set: expected NAME=VALUE, such as region=eu-west-1, got {item!r}")
            settings[name] = value
        of_model = {"wire": wire, "base_url": base_url, "timeouts": Timeouts(total=timeout), **settings}
        return ask_model(
            model, question, system=system, options=_options(options), model_options=of_model, as_json=json
        )

    run(command)


def _options(text: str) -> dict[str, Any]:
    try:
        asked = jsonlib.loads(text)
    except ValueError as error:
        raise BadArgumentsError(f"--options: expected a JSON object; {error}") from None
    if not isinstance(asked, dict):
        raise BadArgumentsError(f"--options: expected a JSON object, got {type(asked).__name__}")
    return asked


@app.command(
    epilog="Exit status: 0; 1 a package that adds providers cannot be loaded; 2 there is no such provider."
)
def providers(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="One provider, in detail; all of them without.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
) -> None:
    """List the providers: what they speak, where, what can be asked of them, and which keys are set."""

    def command() -> Status:
        from plait.cli.providers import show_one, show_providers

        return show_providers(as_json=as_json) if name is None else show_one(name, as_json=as_json)

    run(command)
