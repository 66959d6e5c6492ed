"""Units and crontab lines: their text, systemd's own word on it, and where they are written."""

import os
import re
import shlex
import subprocess

import pytest
from doctor import Doctor
from fakes import FakeHost
from tools import needed

from envdoctor.errors import EnvDoctorError, UsageError
from envdoctor.health import installing, schedule, units
from envdoctor.health.installing import Installation, Wish

EVIL = "/srv/a b/100%/it's $HOME/envdoctor"
SYSTEMD = "Debian's package systemd has it"
BOUNDS = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 7))
"""Lowest and highest value of the fields of crontab(5)."""
EXPOSED = 4.0
"""What `systemd-analyze security` may come to at most, of 10."""


def plan(*options, program="/opt/envdoctor/bin/envdoctor", every="10m", **fields):
    return units.Plan((program, "health", *options), schedule.parse(every), **fields)


def settings(text):
    return dict(line.split("=", 1) for line in text.splitlines() if re.match(r"[A-Z]\w+=", line))


def written(folder, found):
    for kind, text in (("service", units.service(found)), ("timer", units.timer(found))):
        (folder / f"{units.NAME}.{kind}").write_text(text)
    return folder / f"{units.NAME}.service"


def field(text, lowest, highest):
    """Return the values that one field of crontab(5) means."""
    found = set()
    for part in text.split(","):
        match = re.fullmatch(r"(\*|\d+(?:-\d+)?)(?:/(\d+))?", part)
        assert match, part
        begin, _, end = match[1].partition("-")
        first, last = (lowest, highest) if begin == "*" else (int(begin), int(end or begin))
        assert lowest <= first <= last <= highest
        found |= set(range(first, last + 1, int(match[2] or 1)))
    return found


def parsed(line, *, user):
    """Read a crontab line as cron does: five fields, perhaps a user, and a command in which % ends a line."""
    words = line.split(None, 6 if user else 5)
    fields = [
        field(word, *bounds) for word, bounds in zip(words, [(0, 59), (0, 23), (1, 31), (1, 12), (0, 7)], strict=False)
    ]
    assert not re.search(r"(?<!\\)%", words[-1])
    return fields, words[5] if user else None, words[-1].replace(r"\%", "%")


@pytest.mark.parametrize(
    ("every", "runs", "calendar"),
    [("1m", 1440, "*:0/1"), ("10m", 144, "*:0/10"), ("1h", 24, "0/1:00"), ("6h", 4, "0/6:00"), ("1d", 1, "daily")],
)
def test_an_interval_is_the_same_to_both(every, runs, calendar):
    found = plan(every=every)
    line = units.crontab(found).splitlines()[-1]
    minutes, hours, days, months, weekdays = parsed(line, user=True)[0]
    assert len(minutes) * len(hours) == runs
    assert (len(days), len(months), len(weekdays)) == (31, 12, 8)
    assert settings(units.timer(found))["OnCalendar"] == calendar


@pytest.mark.parametrize("every", ["7m", "0m", "5h", "90m", "2d", "10", "ten", "10s", ""])
def test_an_interval_that_cron_cannot_keep_is_refused(every):
    with pytest.raises(UsageError, match="divides neither"):
        schedule.parse(every)


@pytest.mark.parametrize("user", [False, True])
def test_the_line_of_cron(user):
    *_, path, line = units.crontab(plan("--textfile", "/srv/x y.prom", program=EVIL, user=user)).splitlines()
    assert path.startswith("PATH=/usr/local/sbin:")
    _, who, command = parsed(line, user=not user)
    assert who == (None if user else "root")
    wait, _, rest = command.partition("; ")
    assert wait == "sleep $(shuf -i 0-120 -n 1)"
    gentle = ["exec", "nice", "-n", "19", "ionice", "-c", "3", "timeout", "-k", "10", "90"]
    assert shlex.split(rest) == [*gentle, EVIL, "health", "--textfile", "/srv/x y.prom"]


def test_a_command_of_systemds_is_what_it_was_told(tmp_path):
    analyze = needed("systemd-analyze", SYSTEMD)
    text = units.service(plan("--notify", 'mail -s "50% of $X"', program="/bin/true"))
    assert r'"mail -s \"50%% of $$X\""' in text
    path = tmp_path / "x.service"
    path.write_text(text)
    done = subprocess.run([analyze, "verify", path], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_every_setting_has_its_reason_above_it():
    for text in (units.service(plan(writes=("/srv/metrics",))), units.timer(plan())):
        lines = text.splitlines()
        told = [number for number, line in enumerate(lines) if line.startswith("# ")]
        assert all(re.match(r"[A-Z]\w+=", lines[number + 1]) and len(lines[number]) > 10 for number in told)
        bare = {line.split("=")[0] for number, line in enumerate(lines) if "=" in line and number - 1 not in told}
        assert bare <= {"Description", "Documentation", "Type", "ExecStart", "WantedBy"}


def test_nothing_can_be_written_but_the_state_and_the_metrics():
    found = settings(units.service(plan(writes=("/srv/my metrics",))))
    assert found["ProtectSystem"] == "strict"
    assert found["StateDirectory"] == "envdoctor"
    assert found["ReadWritePaths"] == '"/srv/my metrics"'
    assert found["PrivateTmp"] == "no"


@pytest.mark.parametrize("user", [False, True])
def test_systemd_has_no_complaint(tmp_path, user):
    analyze = needed("systemd-analyze", SYSTEMD)
    service = written(tmp_path, plan(program="/bin/true", user=user, writes=("/srv/metrics",)))
    mode = ["--user"] if user else []
    done = subprocess.run(
        [analyze, "verify", *mode, service, service.with_suffix(".timer")],
        env={**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


def test_systemd_finds_little_that_is_exposed(tmp_path):
    analyze = needed("systemd-analyze", SYSTEMD)
    service = written(tmp_path, plan(program="/bin/true"))
    limit = f"--threshold={int(EXPOSED * 10)}"
    done = subprocess.run(
        [analyze, "security", "--offline=true", "--no-pager", limit, service],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert "Overall exposure level" in done.stdout


@pytest.mark.parametrize("every", ["1m", "30m", "1h", "12h", "1d"])
def test_systemd_understands_the_calendar(every):
    analyze = needed("systemd-analyze", SYSTEMD)
    calendar = schedule.parse(every).calendar
    assert subprocess.run([analyze, "calendar", calendar], capture_output=True, check=False).returncode == 0


def test_what_others_can_change_is_not_given_to_root(tmp_path):
    path = tmp_path / "unit"
    with pytest.raises(EnvDoctorError, match="root would run what others can change: /srv belongs to eve"):
        installing.write(Installation({str(path): "x"}, "", open_to="/srv belongs to eve"))
    assert not path.exists()


def test_what_is_there_and_differs_stays(tmp_path):
    one, two = tmp_path / "one", tmp_path / "two"
    found = Installation({str(one): "1", str(two): "2"}, "")
    two.write_text("mine")
    with pytest.raises(EnvDoctorError, match="is there and differs; --force"):
        installing.write(found)
    assert not one.exists()
    assert installing.write(found, force=True) == [f"{one}: written", f"{two}: written"]
    assert installing.write(found) == [f"{one}: unchanged", f"{two}: unchanged"]
    assert two.read_text() == "2"
    assert two.stat().st_mode & 0o777 == 0o644


def test_a_link_in_its_place_is_not_followed(tmp_path):
    other, path = tmp_path / "other", tmp_path / "unit"
    other.write_text("x")
    path.symlink_to(other)
    with pytest.raises(EnvDoctorError, match="differs"):
        installing.write(Installation({str(path): "x"}, ""))
    installing.write(Installation({str(path): "y"}, ""), force=True)
    assert (other.read_text(), path.read_text(), path.is_symlink()) == ("x", "y", False)


def test_what_the_configuration_writes_is_let_through(tmp_path):
    config = tmp_path / "health.toml"
    config.write_text('textfile = "/srv/metrics/envdoctor.prom"\nstate = "/srv/state/envdoctor.sqlite"\n')
    tmp_path.chmod(0o755)
    found = installing.planned(Wish(False, "10m", False, str(config)), FakeHost())
    service = found.files["/etc/systemd/system/envdoctor-health.service"]
    assert [line for line in service.splitlines() if line.startswith("ReadWritePaths")] == [
        "ReadWritePaths=-/home",
        "ReadWritePaths=/srv/metrics",
        "ReadWritePaths=/srv/state",
    ]
    assert settings(service)["ExecStart"].endswith(f"health --quiet-unless-changed --config {config}")


@pytest.mark.whole
class TestTheCommand:
    def test_prints_and_writes(self, tmp_path):
        doctor = Doctor(tmp_path)
        printed = doctor("health", "install", "--systemd", "--user", "--every", "1h", "--textfile", "x.prom")
        assert printed.status == 0
        folder = doctor.home / ".config" / "systemd" / "user"
        assert not folder.exists()
        written = doctor("health", "install", "--systemd", "--user", "--every", "1h", "--textfile", "x.prom", "--write")
        assert written.status == 0, written.stderr
        assert "then: systemctl --user daemon-reload" in written.stdout
        texts = {str(path): path.read_text() for path in sorted(folder.iterdir())}
        assert printed.stdout == "\n".join(f"# {path}\n{text}" for path, text in texts.items())
        (command,) = [settings(text)["ExecStart"] for path, text in texts.items() if path.endswith(".service")]
        assert command.endswith(f"health --quiet-unless-changed --textfile {tmp_path}/x.prom")
        assert os.path.isabs(command.split()[0])
        changed = doctor("health", "install", "--systemd", "--user", "--every", "2h", "--write")
        assert (changed.status, "differs" in changed.stderr) == (3, True)

    @pytest.mark.parametrize(
        ("options", "said"),
        [
            ((), "name one of --systemd and --cron"),
            (("--systemd", "--cron"), "name one of"),
            (("--cron", "--every", "7m"), "divides neither"),
            (("--cron", "--user", "--write"), "crontab -e"),
            (("--cron", "--user", "--textfile", "x.txt"), "end in .prom"),
            (("--cron", "--user", "--notify", "mail 'x"), "No closing quotation"),
        ],
    )
    def test_what_it_cannot_do(self, tmp_path, options, said):
        answer = Doctor(tmp_path)("health", "install", *options)
        assert (answer.status, answer.stdout) == (2, "")
        assert said in answer.stderr
