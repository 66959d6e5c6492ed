"""Who runs from an environment, on a /proc that is made up of files: no process is started."""

import os

import pytest

from envdoctor.generations.jobs import UNTOLD, jobs

FIRST = 5_000_000
"""No process of this machine has such a number: the kernel's largest is 4194304 (proc_sys_kernel(5), pid_max)."""
PARENT = FIRST + 90


class Machine:
    """An environment at `venv`, a link to a version, and processes."""

    def __init__(self, folder):
        self.folder = folder
        self.link = folder / "venv"
        self.version = folder / ".envs" / "venv" / "abc-1"
        self.make(self.version)
        self.link.symlink_to(".envs/venv/abc-1")
        self.make(folder / "other")
        (folder / "usr").mkdir()
        (folder / "usr" / "cat").write_text("")
        self.proc = folder / "proc"
        (self.proc / "self" / "ns").mkdir(parents=True)
        (self.proc / "self" / "ns" / "pid").symlink_to("pid:[4026531836]")
        (self.proc / "self" / "ns" / "mnt").symlink_to("mnt:[1]")
        (self.proc / "self" / "mountinfo").write_text("1 0 8:1 / / rw - ext4 /dev/sda1 rw\n")
        (self.proc / "1").mkdir()

    @staticmethod
    def make(prefix):
        (prefix / "bin").mkdir(parents=True)
        (prefix / "lib").mkdir()
        for name in ("python", "torchrun"):
            (prefix / "bin" / name).write_text("")
            (prefix / "bin" / name).chmod(0o755)

    def run(self, *argv, pid=FIRST, exe="/usr/bin/python3.12", env=(), cwd="/", maps=(), opened=(), parent=1, **more):
        """Add a process; `exe` None is one that may not be looked into."""
        folder = self.proc / str(pid)
        (folder / "fd").mkdir(parents=True)
        (folder / "ns").mkdir()
        state, flags = more.get("state", "S"), more.get("flags", 0)
        (folder / "stat").write_text(f"{pid} (a b) c) {state} {parent} 1 1 0 -1 {flags} 0 0")
        (folder / "comm").write_text("python\n")
        (folder / "cmdline").write_bytes(b"".join(os.fsencode(word) + b"\0" for word in argv))
        if exe is None:
            return
        (folder / "exe").symlink_to(exe)
        (folder / "cwd").symlink_to(cwd)
        (folder / "environ").write_text("".join(f"{name}={value}\0" for name, value in dict(env).items()))
        (folder / "maps").write_text("".join(f"7f00-7f01 r-xp 0 fe:01 1   {path}\n" for path in maps))
        (folder / "ns" / "mnt").symlink_to(more.get("namespace", "mnt:[1]"))
        for number, path in enumerate(opened):
            (folder / "fd" / str(number)).symlink_to(path)

    def jobs(self, current=None, **options):
        return jobs(str(self.link), str(current or self.version), proc=str(self.proc), **options)

    def judged(self, current=None):
        """Return the verdict on the one process, and the phrase."""
        found = self.jobs(current)
        verdicts = [("keeps", job.how) for job in found.keeping] + [("mixes", job.how) for job in found.mixing]
        assert len(verdicts) <= 1
        return verdicts[0] if verdicts else (None, *found.unchecked)


@pytest.fixture
def machine(tmp_path):
    return Machine(tmp_path)


LINK, REAL = "started through the link", "started by the real path, as after activation"


class TestStarted:
    def test_through_the_link(self, machine):
        machine.run(f"{machine.link}/bin/python", "train.py")
        assert machine.judged() == ("mixes", LINK)

    def test_by_the_real_path(self, machine):
        machine.run(f"{machine.version}/bin/python", "-m", "train")
        assert machine.judged() == ("keeps", REAL)

    def test_by_a_link_to_the_link(self, machine):
        (machine.folder / "mine").symlink_to(machine.link)
        machine.run(f"{machine.folder}/mine/bin/python")
        assert machine.judged() == ("mixes", LINK)

    def test_by_a_doctor_who_asks_what_it_is(self, machine):
        payload = "/opt/doctor/lib/python3.12/site-packages/envdoctor/payloads/interpreter.py"
        machine.run(f"{machine.link}/bin/python", "-I", "-S", "-B", payload)
        assert machine.judged() == (None,)

    def test_by_another_link_to_the_version(self, machine):
        (machine.folder / "mine").symlink_to(machine.version)
        machine.run(f"{machine.folder}/mine/bin/python")
        assert machine.judged() == ("keeps", REAL)

    def test_by_path(self, machine):
        machine.run("python", env={"PATH": f"/nowhere:{machine.link}/bin"})
        assert machine.judged() == ("mixes", LINK)

    def test_by_the_path_of_an_activated_shell(self, machine):
        machine.run("python", env={"PATH": f"{machine.version}/bin:{machine.link}/bin"})
        assert machine.judged() == ("keeps", REAL)

    def test_by_a_path_whose_first_entry_with_that_program_is_another(self, machine):
        machine.run("python", env={"PATH": f"{machine.folder}/other/bin:{machine.link}/bin"})
        assert machine.judged() == (None,)

    def test_below_its_working_directory(self, machine):
        machine.run("venv/bin/python", cwd=machine.folder)
        assert machine.judged() == ("mixes", LINK)

    def test_from_inside_where_the_kernel_names_the_real_directory(self, machine):
        machine.run("bin/python", cwd=machine.version, env={"PWD": machine.link})
        assert machine.judged() == ("keeps", REAL)

    def test_below_a_directory_that_it_has_left(self, machine):
        machine.run("venv/bin/python", cwd="/", env={"PWD": machine.folder})
        assert machine.judged() == ("mixes", LINK)

    def test_by_a_path_that_enters_and_leaves_the_version(self, machine):
        machine.run("../../../venv/bin/python", cwd=machine.version)
        assert machine.judged() == ("mixes", LINK)
        machine.run(f"{machine.version}/../../../other/bin/python", pid=FIRST + 1)
        assert len(machine.jobs().mixing) == 1
        assert machine.jobs().keeping == ()

    def test_by_the_first_line_of_a_script(self, machine):
        machine.run(f"{machine.version}/bin/python", f"{machine.link}/bin/torchrun")
        assert machine.judged() == ("keeps", REAL)

    def test_with_a_python_from_elsewhere_on_a_script_of_it(self, machine):
        machine.run("/usr/bin/python3", f"{machine.link}/bin/torchrun")
        assert machine.judged() == ("mixes", "runs a file of it through the link")

    def test_in_another_environment(self, machine):
        machine.run(f"{machine.folder}/other/bin/python", maps=[f"{machine.folder}/other/lib/x.so"])
        assert machine.judged() == (None,)

    def test_as_a_program_that_only_has_that_name(self, machine):
        machine.run(f"{machine.link}/bin/python", exe="/usr/bin/sleep")
        assert machine.judged() == (None,)

    def test_as_a_shell_in_it_with_it_activated(self, machine):
        env = {"PATH": f"{machine.version}/bin", "VIRTUAL_ENV": machine.version}
        machine.run("-bash", exe="/usr/bin/bash", cwd=machine.link, env=env)
        assert machine.judged() == (None,)


class TestSearchesPath:
    @pytest.mark.parametrize(("entry", "verdict"), [("link", "mixes"), ("version", "keeps")])
    def test_that_leads_into_it(self, entry, verdict, machine):
        machine.run("/usr/bin/python3", env={"PYTHONPATH": f"/elsewhere:{getattr(machine, entry)}/lib"})
        assert machine.judged()[0] == verdict

    def test_below_its_working_directory(self, machine):
        machine.run("/usr/bin/python3", env={"PYTHONPATH": "venv/lib"}, cwd=machine.folder)
        assert machine.judged() == ("mixes", "its PYTHONPATH leads through the link")

    def test_that_mixes_what_its_start_would_have_kept(self, machine):
        machine.run(f"{machine.version}/bin/python", env={"PYTHONPATH": f"{machine.link}/lib"})
        assert machine.judged() == ("mixes", "its PYTHONPATH leads through the link")


class TestRenamed:
    """Ray, vLLM and others write a title over their command line."""

    def test_with_files_of_it_and_nothing_that_says_how(self, machine):
        machine.run("ray::IDLE", maps=[f"{machine.version}/lib/setproctitle.so"])
        assert machine.judged() == ("mixes", UNTOLD)

    def test_with_an_open_file_of_it(self, machine):
        machine.run("ray::IDLE", opened=[f"{machine.version}/lib/weights"])
        assert machine.judged() == ("mixes", UNTOLD)

    def test_with_files_of_another(self, machine):
        machine.run("ray::IDLE", maps=[f"{machine.version}-2/lib/setproctitle.so"])
        assert machine.judged() == (None,)

    @pytest.mark.parametrize(("start", "verdict"), [("link", "mixes"), ("version", "keeps")])
    def test_started_by_one_that_says_how(self, start, verdict, machine):
        raylet = f"{getattr(machine, start)}/bin/torchrun"
        machine.run(raylet, pid=PARENT, exe=f"{machine.version}/bin/torchrun")
        machine.run("ray::MIDDLE", pid=FIRST + 1, parent=PARENT, exe="/usr/bin/sleep")
        machine.run("ray::IDLE", parent=FIRST + 1, maps=[f"{machine.version}/lib/setproctitle.so"])
        said, how = machine.judged()
        assert said == verdict
        assert how.startswith(f"process {PARENT}, which started it, was ")

    def test_started_by_a_shell(self, machine):
        machine.run("/bin/sh", pid=PARENT, exe="/usr/bin/dash")
        machine.run("ray::IDLE", parent=PARENT, maps=[f"{machine.version}/lib/setproctitle.so"])
        assert machine.judged() == ("mixes", UNTOLD)

    def test_in_a_circle_of_parents(self, machine):
        machine.run("a", pid=PARENT, parent=FIRST, exe="/usr/bin/sleep")
        machine.run("ray::IDLE", parent=PARENT, maps=[f"{machine.version}/lib/setproctitle.so"])
        assert machine.judged() == ("mixes", UNTOLD)


class TestEmbedded:
    MAPS = ("/usr/lib/libpython3.12.so.1.0",)

    def test_python_in_another_program_counts(self, machine):
        machine.run("uwsgi", exe="/usr/bin/uwsgi", maps=[*self.MAPS, f"{machine.version}/lib/x.so"])
        assert machine.judged() == ("mixes", UNTOLD)

    def test_a_program_without_python_does_not(self, machine):
        machine.run(f"{machine.link}/bin/ruff", exe=f"{machine.version}/bin/ruff", maps=[f"{machine.version}/bin/ruff"])
        assert machine.judged() == (None,)


class TestFirstMigration:
    @pytest.fixture
    def machine(self, machine):
        machine.link.unlink()
        machine.make(machine.link)
        return machine

    @pytest.mark.parametrize(
        ("argv", "more"),
        [
            (["{}/bin/python"], {}),
            (["bin/python"], {"cwd": "{}"}),
            (["python"], {"env": {"PATH": "{}/bin"}}),
            (["/usr/bin/python3"], {"env": {"PYTHONPATH": "{}/lib"}}),
            (["/usr/bin/python3", "{}/bin/torchrun"], {}),
            (["ray::IDLE"], {"maps": ["{}/lib/x.so"]}),
        ],
        ids=["absolute", "relative", "PATH", "PYTHONPATH", "script", "renamed"],
    )
    def test_every_job_mixes(self, argv, more, machine):
        def filled(value):
            if isinstance(value, dict):
                return {key: filled(item) for key, item in value.items()}
            return [filled(item) for item in value] if isinstance(value, list) else value.format(machine.link)

        machine.run(*filled(argv), **filled(more))
        assert machine.judged(current=machine.link)[0] == "mixes"

    def test_and_is_told_why(self, machine):
        machine.run(f"{machine.link}/bin/python")
        assert machine.judged(current=machine.link) == ("mixes", "started from the directory that becomes a link")


class TestOtherUsers:
    """Their command lines can be read, and nothing else."""

    @pytest.mark.parametrize(("start", "verdict"), [("link", "mixes"), ("version", "keeps")])
    def test_are_judged_by_an_absolute_path(self, start, verdict, machine):
        machine.run(f"{getattr(machine, start)}/bin/python", exe=None)
        assert machine.judged()[0] == verdict

    def test_are_judged_by_the_script_of_a_python_of_unknown_place(self, machine):
        machine.run("python", f"{machine.link}/bin/torchrun", exe=None)
        assert machine.judged() == ("mixes", "runs a file of it through the link")

    def test_are_said_to_be_closed_where_nothing_can_be_told(self, machine):
        machine.run("python", "train.py", exe=None)
        machine.run("ray::IDLE", exe=None, pid=FIRST + 1)
        (said,) = machine.jobs().unchecked
        assert said.startswith("2 processes of user ")
        assert said.endswith(" cannot be looked into")

    def test_that_run_a_program_which_is_no_python_are_of_no_interest(self, machine):
        machine.run(f"{machine.folder}/usr/cat", "x", exe=None)
        machine.run("-bash", exe=None, pid=FIRST + 1)
        assert machine.jobs().unchecked == ()


class TestUnchecked:
    def test_another_pid_namespace(self, machine):
        path = machine.proc / "self" / "ns" / "pid"
        path.unlink()
        path.symlink_to("pid:[4026532201]")
        assert machine.jobs().unchecked == (
            "there may be processes that cannot be seen from here: outside the host's PID namespace",
        )

    def test_a_proc_that_hides_others(self, machine):
        (machine.proc / "1").rmdir()
        assert "hidepid" in machine.jobs().unchecked[0]

    def test_a_network_file_system(self, machine):
        line = f"2 1 0:30 / {machine.folder} rw - nfs4 filer:/x rw\n"
        (machine.proc / "self" / "mountinfo").write_text(f"1 0 8:1 / / rw - ext4 /dev/sda1 rw\n{line}")
        assert machine.jobs().unchecked == (
            f"{machine.link} lies on a network file system (nfs4): what other hosts run from it cannot be seen",
        )

    def test_a_container_in_which_the_environment_may_have_another_path(self, machine):
        machine.run(f"{machine.link}/bin/python", namespace="mnt:[2]")
        assert machine.judged() == (None, "1 Python in containers of this host may have it under another path")

    def test_a_container_that_sees_the_environment_where_it_lies_is_judged(self, machine):
        machine.run(f"{machine.link}/bin/python", namespace="mnt:[2]")
        (machine.proc / str(FIRST) / "root").symlink_to("/")
        assert machine.judged() == ("mixes", LINK)

    def test_what_there_was_no_time_for(self, machine):
        machine.run(f"{machine.link}/bin/python")
        assert machine.jobs(seconds=-1).unchecked == (
            "1 of 1 processes were not looked at: there are too many, or it took too long",
        )


class TestNoJobs:
    @pytest.mark.parametrize(("state", "flags"), [("Z", 0), ("X", 0), ("S", 0x00200000)])
    def test_zombies_and_threads_of_the_kernel(self, state, flags, machine):
        machine.run(f"{machine.link}/bin/python", state=state, flags=flags)
        assert machine.judged() == (None,)

    def test_one_that_is_gone_before_it_is_looked_at(self, machine):
        (machine.proc / str(FIRST)).mkdir()
        assert machine.judged() == (None,)

    def test_the_doctor_and_its_forked_children_and_parents(self, machine):
        argv = (f"{machine.link}/bin/python", "-m", "envdoctor", "rebuild")
        machine.run(*argv, pid=PARENT)
        machine.run(*argv, pid=os.getpid(), parent=PARENT)
        machine.run(*argv, pid=FIRST + 1, parent=PARENT)
        assert machine.judged() == (None,)

    def test_but_the_job_script_that_started_it_is_one(self, machine):
        machine.run(f"{machine.link}/bin/python", "job.py", pid=PARENT)
        machine.run(f"{machine.link}/bin/python", "-m", "envdoctor", pid=os.getpid(), parent=PARENT)
        assert machine.judged() == ("mixes", LINK)

    def test_where_there_is_no_environment(self, machine):
        machine.run(f"{machine.folder}/none/bin/python")
        found = jobs(str(machine.folder / "none"), str(machine.folder / "none"), proc=str(machine.proc))
        assert (found.keeping, found.mixing) == ((), ())


def test_the_name_is_the_kernels_and_no_argument_is_told(machine):
    machine.run(f"{machine.link}/bin/python", "--token", "hunter2", env={"TOKEN": "hunter3"})
    (job,) = machine.jobs().mixing
    assert job.command == "python"
    assert "hunter" not in repr(machine.jobs())


def test_they_are_told_in_the_order_of_their_numbers(machine):
    for pid in (FIRST + 5, FIRST + 3, FIRST + 4):
        machine.run(f"{machine.link}/bin/python", pid=pid)
    assert [job.pid for job in machine.jobs().mixing] == [FIRST + 3, FIRST + 4, FIRST + 5]


def test_a_path_of_endless_links_leads_nowhere(machine):
    (machine.folder / "loop").symlink_to("loop")
    machine.run(f"{machine.folder}/loop/bin/python")
    assert machine.judged() == (None,)
