#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""mpiexec from outside: output, input, signals, exit codes, deaths, other hosts. Standard library only.

    launch_test.py MPIEXEC PROBE [unittest options]

Every process that a test starts carries a mark in its environment, so that survivors are found whoever
their parent is. All waits are bounded.
"""
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import unittest

MPIEXEC = PROBE = ""
# A remote launcher that runs here: called as `COMMAND host program arguments`.
LOCAL = "sh -c 'shift; exec \"$@\"' sh"
PATIENCE_S = 20


def default_signals():
    """A test runner in the background ignores SIGINT; its children must not."""
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)


def descendants(pid):
    found = []
    try:
        with open(f"/proc/{pid}/task/{pid}/children") as file:
            for child in map(int, file.read().split()):
                found += [child] + descendants(child)
    except OSError:
        pass
    return found


def is_proxy(pid):
    try:
        with open(f"/proc/{pid}/cmdline") as file:
            return "--vicinity-proxy" in file.read()
    except OSError:
        return False


class Case(unittest.TestCase):
    def setUp(self):
        self.mark = f"LAUNCH_TEST_MARK={os.getpid()}.{random.random()}"

    def tearDown(self):
        left = self.survivors(2)
        for pid in left:
            os.kill(pid, signal.SIGKILL)
        self.assertEqual(left, [], "processes outlived their job")

    def survivors(self, wait_s):
        """Processes with our mark that still live after at most so long."""
        until = time.monotonic() + wait_s
        while True:
            left = []
            for name in filter(str.isdigit, os.listdir("/proc")):
                try:
                    with open(f"/proc/{name}/environ", "rb") as file:
                        if self.mark.encode() in file.read().split(b"\0"):
                            left.append(int(name))
                except OSError:
                    pass
            if not left or time.monotonic() > until:
                return left
            time.sleep(0.02)

    def start(self, *args, **more):
        name, value = self.mark.split("=")
        environment = dict(os.environ, **more.pop("env", {}), **{name: value})
        return subprocess.Popen([MPIEXEC, *args], env=environment, preexec_fn=default_signals, text=True,
                                stdin=more.pop("stdin", subprocess.DEVNULL), stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, **more)

    def mpiexec(self, *args, text=None, **more):
        if text is not None:
            more["stdin"] = subprocess.PIPE
        job = self.start(*args, **more)
        try:
            out, error = job.communicate(text, timeout=PATIENCE_S)
        except subprocess.TimeoutExpired:
            job.kill()
            raise
        return job.returncode, out, error

    def until(self, condition, what):
        end = time.monotonic() + PATIENCE_S
        while not condition():
            self.assertLess(time.monotonic(), end, what)
            time.sleep(0.01)

    def started(self, job, count):
        """Waits until `count` probes run, and returns their process numbers by rank."""
        ranks = {}

        def all_there():
            for pid in descendants(job.pid):
                try:
                    with open(f"/proc/{pid}/environ", "rb") as file:
                        variables = dict(v.split(b"=", 1) for v in file.read().split(b"\0") if b"=" in v)
                    with open(f"/proc/{pid}/comm") as file:
                        if b"PMI_RANK" in variables and file.read().strip() == "wireup_probe":
                            ranks[int(variables[b"PMI_RANK"])] = pid
                except OSError:
                    pass
            return len(ranks) == count
        self.until(all_there, "the job did not start")
        return ranks


class Ordinary(Case):
    def test_wireup(self):
        code, out, error = self.mpiexec("-n", "5", PROBE, "3000")
        self.assertEqual((code, error), (0, ""))
        self.assertEqual(sorted(line.split()[1] for line in out.splitlines()), list("01234"))

    def test_mpmd(self):
        code, out, _ = self.mpiexec("-n", "1", PROBE, ":", "-n", "2", PROBE)
        self.assertEqual(code, 0)
        self.assertEqual(sorted(line.split()[5] for line in out.splitlines()), ["0", "1", "1"])

    def test_hosts_through_a_launcher_command(self):
        code, out, error = self.mpiexec("-hosts", "a:2,b:1,c:1", "-launcher", LOCAL, "-n", "4", PROBE, "3000")
        self.assertEqual((code, error), (0, ""))
        self.assertEqual(len(out.splitlines()), 4)

    def test_launcher_by_environment(self):
        code, out, _ = self.mpiexec("-hosts", "a", "-n", "1", "echo", "x", env={"VICINITY_LAUNCHER": LOCAL})
        self.assertEqual((code, out), (0, "x\n"))

    def test_environment(self):
        show = ["sh", "-c", "echo $A-$B-$PMI_SIZE-$PMIX_RANK"]
        environment = {"A": "a", "B": "b", "PMIX_RANK": "9"}
        self.assertEqual(self.mpiexec(*show, env=environment)[1], "a-b-1-\n")
        set_two = ["-genv", "A", "x", "-env", "B", "y"]
        self.assertEqual(self.mpiexec(*set_two, *show, env=environment)[1], "x-y-1-\n")
        self.assertEqual(self.mpiexec("-genvlist", "A,PATH", *show, env=environment)[1], "a--1-\n")
        only_b = ["-genvnone", "-x", "B", "/bin/sh"]
        self.assertEqual(self.mpiexec(*only_b, *show[1:], env=environment)[1], "-b-1-\n")

    def test_directory(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(self.mpiexec("-wdir", folder, "pwd")[1].strip(), os.path.realpath(folder))
        code, _, error = self.mpiexec("-wdir", "/nosuch", "pwd")
        self.assertEqual(code, 126)
        self.assertIn("/nosuch", error)

    def test_path_is_seen_from_the_directory(self):
        with tempfile.TemporaryDirectory() as folder:
            os.mkdir(f"{folder}/programs")
            os.symlink("/bin/pwd", f"{folder}/programs/where")
            code, out, error = self.mpiexec("-wdir", folder, "-path", "programs", "where")
            self.assertEqual((code, out.strip()), (0, os.path.realpath(folder)), error)

    def test_binding(self):
        code, out, _ = self.mpiexec("-bind-to", "hwthread", "-n", "1", "taskset", "-cp", "0")
        if code == 0:
            show = ["sh", "-c", "grep Cpus_allowed_list /proc/self/status"]
            out = self.mpiexec("-bind-to", "hwthread", "-n", "2", *show)[1].split()
            self.assertTrue(out[1].isdigit() and out[3].isdigit(), out)

    def test_help_and_version(self):
        code, out, _ = self.mpiexec("--help")
        self.assertEqual(code, 0)
        self.assertIn("-hostfile", out)
        self.assertEqual(self.mpiexec("--version")[0], 0)


class InputAndOutput(Case):
    def test_lines_never_mix(self):
        write = "import os,time\nfor i in range(200):\n os.write(1, b'ab'); os.write(1, b'cd\\n')"
        code, out, _ = self.mpiexec("-n", "4", sys.executable, "-c", write)
        self.assertEqual(code, 0)
        self.assertEqual(out, "abcd\n" * 800)

    def test_labels(self):
        out = self.mpiexec("-l", "-n", "2", "sh", "-c", "echo one; printf two")[1]
        self.assertEqual(sorted(out.splitlines()), ["[0] one", "[0] two", "[1] one", "[1] two"])

    def test_input_goes_to_one_rank(self):
        count = ["sh", "-c", "echo $PMI_RANK $(wc -c)"]
        text = "x" * 300000
        lines = sorted(self.mpiexec("-n", "2", *count, text=text)[1].splitlines())
        self.assertEqual(lines, ["0 300000", "1 0"])
        lines = sorted(self.mpiexec("-stdin", "1", "-n", "2", *count, text=text)[1].splitlines())
        self.assertEqual(lines, ["0 0", "1 300000"])
        lines = sorted(self.mpiexec("-stdin", "all", "-n", "2", *count, text=text)[1].splitlines())
        self.assertEqual(lines, ["0 300000", "1 300000"])
        self.assertEqual(self.mpiexec("-stdin", "none", "wc", "-c", text=text)[1].strip(), "0")

    def test_input_that_nobody_reads(self):
        self.assertEqual(self.mpiexec("true", text="x" * 1000000)[0], 0)

    def test_much_output_is_complete(self):
        out = self.mpiexec("-n", "2", "sh", "-c", "yes 0123456789 | head -300000")[1]
        # A line that is not complete for long, because the machine is busy, may get an end of its own.
        self.assertEqual(len(out.replace("\n", "")), 2 * 10 * 300000)

    def test_output_files(self):
        with tempfile.TemporaryDirectory() as folder:
            self.mpiexec("-o", f"{folder}/out.%r.txt", "-n", "2", "sh", "-c", "echo $PMI_RANK")
            for rank in "01":
                with open(f"{folder}/out.{rank}.txt") as file:
                    self.assertEqual(file.read(), rank + "\n")

    def test_closed_standard_streams(self):
        command = f'"{MPIEXEC}" -n 2 sh -c "exit 0" <&- >&- 2>&-'
        self.assertEqual(subprocess.run(["sh", "-c", command], timeout=PATIENCE_S).returncode, 0)

    def test_reader_that_goes_away(self):
        command = f'"{MPIEXEC}" -n 2 yes | head -1; true'
        done = subprocess.run(["sh", "-c", command], timeout=PATIENCE_S, capture_output=True)
        self.assertEqual(done.stdout, b"y\n")


class ExitCodes(Case):
    def check(self, expected_code, words, *args, **more):
        before = time.monotonic()
        code, _, error = self.mpiexec(*args, **more)
        self.assertEqual(code, expected_code, error)
        for word in words:
            self.assertIn(word, error)
        return time.monotonic() - before

    def test_abort(self):
        self.check(7, ["rank 2", "MPI_Abort", "told to abort"], "-n", "3", PROBE, "abort")

    def test_crash(self):
        self.check(134, ["rank 2", "signal 6 (SIGABRT)"], "-n", "3", PROBE, "crash")

    def test_exit_inside_mpi(self):
        self.check(3, ["rank 2", "exit code 3"], "-n", "3", PROBE, "code")
        self.check(1, ["rank 2", "without calling MPI_Finalize"], "-n", "3", PROBE, "leave")

    def test_exit_outside_mpi(self):
        self.check(5, ["exit code 5"], "-n", "1", "sh", "-c", "exit 5", ":", "-n", "1", "sleep", "50")

    def test_one_that_never_comes(self):
        self.check(1, ["rank 1", "MPI_Init"], "-n", "1", PROBE, ":", "-n", "1", "true")
        self.check(1, ["rank 1", "MPI_Init"], "-hosts", "a,b", "-launcher", LOCAL, "-n", "1", PROBE, ":",
                   "-n", "1", "sleep", "0.3")

    def test_not_a_program(self):
        self.check(127, ["nosuch", "PATH"], "-n", "2", "nosuch")
        self.check(127, ["./nosuch"], "-n", "2", "./nosuch")
        self.check(126, ["/etc/passwd"], "-n", "2", "/etc/passwd")

    def test_timeout(self):
        self.check(124, ["-timeout"], "-timeout", "0.5", "sleep", "50")

    def test_host_that_cannot_be_reached(self):
        self.check(1, ["host a", "-launcher"], "-hosts", "a", "-launcher", "false", "true")
        noisy = "echo Welcome to; sleep 5; true"
        self.check(1, ["host a", "shell"], "-hosts", "a", "-launcher", noisy, "true")

    def test_bad_options(self):
        self.check(2, ["-nosuch"], "-nosuch", "true")
        self.check(2, ["line 2"], "-f", "/dev/stdin", "true", text="a\nb slots=x\n")


class Deaths(Case):
    def test_killed_rank(self):
        for hosts in ([], ["-hosts", "a:2,b:2", "-launcher", LOCAL]):
            job = self.start(*hosts, "-n", "4", PROBE, "hang")
            ranks = self.started(job, 4)
            victim = random.randrange(4)
            before = time.monotonic()
            os.kill(ranks[victim], signal.SIGKILL)
            error = job.communicate(timeout=PATIENCE_S)[1]
            self.assertLess(time.monotonic() - before, 5)  # a second on a quiet machine
            self.assertEqual(job.returncode, 137)
            self.assertIn(f"rank {victim} on ", error)
            self.assertIn("signal 9 (SIGKILL)", error)

    def test_killed_while_starting(self):
        for _ in range(10):
            job = self.start("-n", "3", PROBE, "hang")
            time.sleep(random.random() * 0.1)
            victims = descendants(job.pid)
            if victims:
                try:
                    os.kill(random.choice(victims), signal.SIGKILL)
                except ProcessLookupError:
                    continue
            else:
                job.kill()
            job.communicate(timeout=PATIENCE_S)
            self.assertNotEqual(job.returncode, 0)

    def test_killed_mpiexec(self):
        for arguments in ([PROBE, "hang"], ["sh", "-c", "sleep 98 & setsid sleep 98 & sleep 98"]):
            for hosts in ([], ["-hosts", "a,b", "-launcher", LOCAL]):
                job = self.start(*hosts, "-n", "2", *arguments)
                self.until(lambda: len(self.survivors(0)) >= 4, "the job did not start")
                job.kill()
                job.communicate(timeout=PATIENCE_S)
                self.assertEqual(self.survivors(5), [])

    def test_killed_proxy(self):
        job = self.start("-n", "2", "sh", "-c", "sleep 98 & sleep 98")
        self.until(lambda: len(self.survivors(0)) >= 6, "the job did not start")
        proxies = list(filter(is_proxy, descendants(job.pid)))
        os.kill(proxies[0], signal.SIGKILL)
        error = job.communicate(timeout=PATIENCE_S)[1]
        self.assertEqual(job.returncode, 1)
        self.assertIn("proxy", error)

    def test_children_of_a_finished_job(self):
        self.assertEqual(self.mpiexec("-n", "2", "sh", "-c", "sleep 98 & setsid sleep 98 & exit 0")[0], 0)


class Signals(Case):
    def signalled(self, first, second=None, arguments=()):
        job = self.start("-n", "2", *(arguments or [PROBE, "hang"]))
        if arguments:
            self.until(lambda: len(self.survivors(0)) >= 4, "the job did not start")
            time.sleep(0.3)
        else:
            self.started(job, 2)
        job.send_signal(first)
        if second:
            time.sleep(0.3)
            job.send_signal(second)
        out = job.communicate(timeout=PATIENCE_S)[0]
        return job.returncode, out

    def test_interrupt_and_terminate(self):
        self.assertEqual(self.signalled(signal.SIGINT)[0], 130)
        self.assertEqual(self.signalled(signal.SIGTERM)[0], 143)

    def test_second_interrupt_kills(self):
        stubborn = ["sh", "-c", "trap '' INT; sleep 98; sleep 98"]
        self.assertEqual(self.signalled(signal.SIGINT, signal.SIGINT, stubborn)[0], 130)

    def test_user_signal_is_passed_on(self):
        handler = "trap 'echo got; exit 0' USR1; while :; do sleep 0.1; done"
        code, out = self.signalled(signal.SIGUSR1, None, ["sh", "-c", handler])
        self.assertEqual((code, out), (0, "got\n" * 2))

    def test_stop_and_continue(self):
        job = self.start("-n", "2", "sh", "-c", "sleep 1.5; echo done")

        def states():
            found = ""
            for pid in self.survivors(0):
                try:
                    with open(f"/proc/{pid}/stat") as file:
                        text = file.read()
                except OSError:
                    continue
                if not is_proxy(pid):
                    found += text[text.rindex(")") + 2]
            return found
        self.until(lambda: len(states()) >= 5, "the job did not start")
        job.send_signal(signal.SIGTSTP)
        self.until(lambda: set(states()) == {"T"}, "the job did not stop")
        job.send_signal(signal.SIGCONT)
        self.assertEqual(job.communicate(timeout=PATIENCE_S)[0], "done\n" * 2)


if __name__ == "__main__":
    MPIEXEC, PROBE = map(os.path.abspath, sys.argv[1:3])
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
