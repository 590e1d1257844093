"""Servers that tests start: PostgreSQL and Redis as they are installed, each on a port that the system gives, in a folder of its own."""

import os
import pwd
import shutil
import signal
import socket
import subprocess
from contextlib import suppress
from pathlib import Path
from time import monotonic, sleep
from typing import Final

from typing_extensions import Self

from .waiting import PATIENCE

#: PostgreSQL does not run as root: it is started as this user then, whom Debian's package makes.
_POSTGRES_USER: Final = "postgres"


def postgresql_programs() -> Path | None:
    """Return the folder of PostgreSQL's programs, of the newest version; None where it is not installed."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parent.parent.name))
    if found:
        return found[-1].parent
    program = shutil.which("initdb")
    return Path(program).resolve().parent if program else None


def redis_program() -> Path | None:
    """Return the program of the Redis server; None where it is not installed."""
    program = shutil.which("redis-server")
    return Path(program) if program else None


def free_port() -> int:
    """Return a port of 127.0.0.1 that nothing listens at."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


def _children(pid: int) -> list[int]:
    """The processes that a process has started; elsewhere than on Linux, none: they have to notice by themselves that it is gone."""
    children = Path(f"/proc/{pid}/task/{pid}/children")
    return [int(each) for each in children.read_text().split()] if children.exists() else []


def kill_with_children(pid: int) -> None:
    """Kill a process and those that it has started."""
    for each in (pid, *_children(pid)):
        with suppress(ProcessLookupError):  # it has ended
            os.kill(each, signal.SIGKILL)


class ServerProcess:
    """A server of another program; it can be killed and started again on the same port, with what it has kept on disk."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = free_port()
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()
        self.remove()

    @property
    def pid(self) -> int:
        """The id of the process. Raises RuntimeError if none runs."""
        if self._process is None:
            raise RuntimeError("the server does not run")
        return self._process.pid

    def start(self) -> None:
        """Start the server, and wait until it answers. Raises RuntimeError with what it has said if it does not."""
        log = self.folder / "server.log"
        with log.open("ab") as said:
            self._process = subprocess.Popen(
                self._command(), cwd=self.folder, stdout=said, stderr=said, user=self._user(), start_new_session=True
            )
        end = monotonic() + PATIENCE
        while not self._answers():
            if self._process.poll() is not None or monotonic() > end:
                self.stop()
                raise RuntimeError(f"{self._command()[0]} does not answer: {log.read_text(errors='replace')[-2_000:]}")
            sleep(0.02)  # it tells nobody when it is ready

    def stop(self) -> None:
        """Stop the server in order."""
        if self._process is not None:
            self.resume()
        self._end(signal.SIGINT)

    def kill(self) -> None:
        """Kill the server, as a machine that fails does."""
        self._end(signal.SIGKILL)

    def pause(self) -> None:
        """Have the server hang: its connections stay, its kernel takes all that comes, and nothing answers."""
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Have the server go on as if nothing had been."""
        self._signal(signal.SIGCONT)

    def has_ended(self) -> bool:
        """Whether somebody else has killed the server, so that it is to be started again."""
        return self._process is not None and self._process.poll() is not None

    def remove(self) -> None:
        """Remove what the server has kept outside its folder."""

    def _signal(self, what: signal.Signals) -> None:
        """Send a signal to the server, and then to the processes that it has started."""
        os.kill(self.pid, what)
        for child in _children(self.pid):
            with suppress(ProcessLookupError):
                os.kill(child, what)

    def _end(self, by: signal.Signals) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.send_signal(by)
        process.wait()

    def _user(self) -> str | None:
        return None

    def _command(self) -> list[str]:
        raise NotImplementedError

    def _answers(self) -> bool:
        raise NotImplementedError


class PostgreSQLServer(ServerProcess):
    """A PostgreSQL server of one database, "dedup", for a user "dedup" with the password "secret"."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._made = 0
        programs = postgresql_programs()
        assert programs is not None
        self._programs = programs
        self._data = folder / "data"
        if os.geteuid() == 0:
            # The user of the server has to get there, but through folders that are only root's.
            self._data = Path("/tmp") / f"dedup-postgresql-{os.getpid()}-{self.port}"
        self._data.mkdir()
        self._own(self._data)
        password = self._data.with_name(f"{self._data.name}.password")
        password.write_text("secret")
        self._own(password)
        initdb = [str(programs / "initdb"), "-D", str(self._data), "-U", "dedup", "-A", "scram-sha-256"]
        options = ["--pwfile", str(password), "-E", "UTF8", "--no-locale", "--no-sync"]
        try:
            subprocess.run([*initdb, *options], check=True, capture_output=True, user=self._user(), cwd="/")
        finally:
            password.unlink()

    def url(self, database: str = "postgres") -> str:
        """Return what ``DEDUP_STORE`` takes."""
        return f"postgresql+psycopg://dedup:secret@127.0.0.1:{self.port}/{database}"

    def new_database(self) -> str:
        """Return the URL of a database that nothing is in yet."""
        from psycopg import connect

        self._made += 1
        with connect(self.url().replace("+psycopg", ""), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE made{self._made}".encode())
        return self.url(f"made{self._made}")

    def remove(self) -> None:
        """Remove the data."""
        shutil.rmtree(self._data, ignore_errors=True)

    def start(self) -> None:
        """Start the server, as soon as the memory of one that was killed is free. Raises RuntimeError."""
        end = monotonic() + PATIENCE
        while True:
            log = self.folder / "server.log"
            known = log.stat().st_size if log.exists() else 0
            try:
                return super().start()
            except RuntimeError:
                if b"still in use" not in log.read_bytes()[known:] or monotonic() > end:
                    raise

    def kill(self) -> None:
        """Kill the server with its processes, as a machine that fails does."""
        if self._process is not None:
            kill_with_children(self._process.pid)
        super().kill()

    def _own(self, path: Path) -> None:
        if self._user() is not None:
            user = pwd.getpwnam(_POSTGRES_USER)
            os.chown(path, user.pw_uid, user.pw_gid)

    def _user(self) -> str | None:
        return _POSTGRES_USER if os.geteuid() == 0 else None

    def _command(self) -> list[str]:
        given = {
            "listen_addresses": "127.0.0.1",
            "unix_socket_directories": "",
            "fsync": "on",
            "max_connections": "100",
        }
        options = [word for name, value in given.items() for word in ("-c", f"{name}={value}")]
        return [str(self._programs / "postgres"), "-D", str(self._data), "-p", str(self.port), *options]

    def _answers(self) -> bool:
        ready = [str(self._programs / "pg_isready"), "-q", "-h", "127.0.0.1", "-p", str(self.port), "-U", "dedup"]
        return subprocess.run(ready, check=False).returncode == 0


class RedisServer(ServerProcess):
    """A Redis server; where it *persists*, every command is on disk before it is answered."""

    def __init__(self, folder: Path, *, persists: bool = False) -> None:
        super().__init__(folder)
        self._persists = persists

    @property
    def url(self) -> str:
        """What ``REDIS_URL`` takes."""
        return f"redis://127.0.0.1:{self.port}/0"

    def _command(self) -> list[str]:
        kept = ["--appendonly", "yes", "--appendfsync", "always"] if self._persists else ["--appendonly", "no"]
        place = ["--bind", "127.0.0.1", "--port", str(self.port), "--dir", str(self.folder)]
        return [str(redis_program()), *place, "--save", "", *kept]

    def _answers(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=1) as connection:
                connection.sendall(b"PING\r\n")
                return connection.recv(7).startswith(b"+PONG")
        except OSError:
            return False
