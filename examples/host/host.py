"""host: the same as host.c, of one workspace, by ctypes.

    python3 host.py ORIGIN METASKILL WORKSPACE
"""
import ctypes
import sys
import threading
from ctypes import (CFUNCTYPE, POINTER, Structure, byref, c_bool, c_char_p, c_double,
                    c_int, c_size_t, c_uint, c_uint64, c_void_p)

lib = ctypes.CDLL("libmapm.so.0")


def structure(name, *fields):
    return type(name, (Structure,), {"_fields_": list(fields)})


def texts(*names):
    return [(name, c_char_p) for name in names]


Progress = structure("Progress", ("done", c_uint), ("total", c_uint),
                     ("is_waiting", c_bool), ("bytes", c_uint64), ("elapsed_ms", c_uint64))
Notice = CFUNCTYPE(None, c_void_p, c_int, c_char_p)
OnProgress = CFUNCTYPE(None, c_void_p, POINTER(Progress))
Confirm = CFUNCTYPE(c_bool, c_void_p, c_int, c_char_p)
Choose = CFUNCTYPE(c_size_t, c_void_p, c_char_p, POINTER(c_char_p), c_size_t)
Options = structure("Options", *texts("workspace", "libexec"),
                    ("environment", POINTER(c_char_p)), ("use_global", c_bool),
                    ("is_offline", c_bool), ("notice", Notice), ("progress", OnProgress),
                    ("confirm", Confirm), ("choose", Choose), ("ctx", c_void_p))
Error = structure("Error", ("code", c_int), ("name", c_char_p),
                  ("messages", POINTER(c_char_p)), ("message_count", c_size_t),
                  ("hint", c_char_p))
ChangeRequest = structure("ChangeRequest", ("command", c_int),
                          ("arguments", POINTER(c_char_p)), ("argument_count", c_size_t),
                          ("is_locked", c_bool), ("is_forced", c_bool), ("all", c_bool),
                          ("with_server", c_bool), ("is_dry_run", c_bool),
                          ("is_strict", c_bool),
                          *((name, POINTER(c_char_p)) for name in
                            ("skills", "agents", "mcps", "plugins", "skip")),
                          *((name, c_size_t) for name in
                            ("skill_count", "agent_count", "mcp_count", "plugin_count",
                             "skip_count")),
                          ("clients", POINTER(c_char_p)), ("client_count", c_size_t))
Package = structure("Package", *texts("type", "name", "version", "origin", "commit", "digest",
                                      "place", "prereqs", "action", "old_version",
                                      "old_commit", "command", "patch"),
                    ("is_root", c_bool), ("is_local", c_bool))
Omission = structure("Omission", *texts("kind", "type", "name", "origin", "code", "message"))
Plan = structure("Plan", ("workspace", c_char_p), ("packages", POINTER(Package)),
                 ("package_count", c_size_t), ("edits", POINTER(c_char_p)),
                 ("edit_count", c_size_t), ("is_empty", c_bool),
                 ("omissions", POINTER(Omission)), ("omission_count", c_size_t))
Change = structure("Change", *texts("action", "path"))
Skill = structure("Skill", *texts("name", "description", "version", "source", "root", "folder",
                                  "license", "compatibility", "allowed_tools"),
                  ("is_metaskill", c_bool), ("is_mode", c_bool), ("is_disabled", c_bool),
                  ("is_explicit", c_bool), ("score", c_double), ("trigger", c_char_p))
Ask = structure("Ask", ("number", c_uint), *texts("prompt", "purpose"), ("max_turns", c_uint),
                ("max_chars", c_size_t))
Answer = structure("Answer", ("text", c_char_p), ("turns", c_uint), ("is_exhausted", c_bool))
Event = structure("Event", ("kind", c_char_p), ("number", c_uint), ("is_done", c_bool),
                  ("is_failed", c_bool), ("at_ms", c_uint64), ("took_ms", c_uint64),
                  *texts("text", "data"))
OnAsk = CFUNCTYPE(c_bool, c_void_p, POINTER(Ask), POINTER(Answer))
OnEvent = CFUNCTYPE(None, c_void_p, POINTER(Event))
RunRequest = structure("RunRequest", *texts("name", "input"), ("allow", POINTER(c_char_p)),
                       ("allow_count", c_size_t), ("ask", OnAsk), ("backend", c_char_p),
                       ("event", OnEvent), ("ctx", c_void_p))
RunResult = structure("RunResult", ("is_completed", c_bool),
                      *texts("text", "envelope", "status", "report"), ("asks", c_uint),
                      ("commands", c_uint), ("traces", c_uint), ("took_ms", c_uint64))
INSTALL, TRUST, INTERRUPTED = 0, 1, 28

for function, result, *arguments in (
        (lib.mapm_open, c_void_p, POINTER(Options)),
        (lib.mapm_close, None, c_void_p),
        (lib.mapm_cancel, None, c_void_p),
        (lib.mapm_last_error, POINTER(Error), c_void_p),
        (lib.mapm_plan, c_bool, c_void_p, POINTER(ChangeRequest), POINTER(POINTER(Plan))),
        (lib.mapm_apply, c_bool, c_void_p, POINTER(POINTER(Change)), POINTER(c_size_t)),
        (lib.mapm_search, c_bool, c_void_p, c_char_p, c_size_t, POINTER(POINTER(Skill)),
         POINTER(c_size_t)),
        (lib.mapm_run, c_bool, c_void_p, POINTER(RunRequest), POINTER(POINTER(RunResult)))):
    function.restype, function.argtypes = result, arguments


class Failure(Exception):
    def __init__(self, error):
        self.code = error.code
        super().__init__("; ".join(error.messages[i].decode()
                                   for i in range(error.message_count)))


class Workspace:
    """One workspace; each method is an operation of mapm.h."""

    def __init__(self, folder):
        self.options = Options(  # holds the callbacks as long as the handle
            workspace=folder.encode(),
            notice=Notice(lambda ctx, level, text: print("notice:", text.decode())),
            progress=OnProgress(self.on_progress),
            confirm=Confirm(lambda ctx, kind, question: kind == TRUST))
        self.m = lib.mapm_open(byref(self.options))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        lib.mapm_close(self.m)

    def call(self, function, *arguments):
        if not function(self.m, *arguments):
            raise Failure(lib.mapm_last_error(self.m).contents)

    @staticmethod
    def on_progress(_, p):
        if p:
            print(f"{p.contents.done} of {p.contents.total} packages")

    def install(self, *origins):
        request = ChangeRequest(command=INSTALL, argument_count=len(origins),
                                arguments=(c_char_p * len(origins))(
                                    *(o.encode() for o in origins)))
        plan, changes, count = POINTER(Plan)(), POINTER(Change)(), c_size_t()
        self.call(lib.mapm_plan, byref(request), byref(plan))
        for p in plan.contents.packages[:plan.contents.package_count]:
            print(p.action.decode(), p.type.decode(), p.name.decode())
        self.call(lib.mapm_apply, byref(changes), byref(count))
        return [c.path.decode() for c in changes[:count.value]]

    def search(self, query, limit=10):
        skills, count = POINTER(Skill)(), c_size_t()
        self.call(lib.mapm_search, query.encode(), limit, byref(skills), byref(count))
        return [(s.name.decode(), s.description.decode()) for s in skills[:count.value]]

    def run(self, name, task, ask):
        """`ask` returns the answer to a prompt."""
        answers = []  # valid until the next call

        def on_ask(_, question, out):
            answers[:] = [ask(question.contents.prompt.decode()).encode()]
            out.contents.text, out.contents.turns = answers[0], 1
            return True

        request = RunRequest(name=name.encode(), input=task.encode(), ask=OnAsk(on_ask),
                             event=OnEvent(lambda ctx, e: print(
                                 "event:", e.contents.kind.decode())))
        result = POINTER(RunResult)()
        self.call(lib.mapm_run, byref(request), byref(result))
        return result.contents.text.decode()

    def cancel(self):
        lib.mapm_cancel(self.m)


def main(origin, metaskill, folder):
    with Workspace(folder) as w:
        print(len(w.install(origin)), "changes")
        for name, description in w.search(metaskill):
            print(f"found {name}: {description}")
        print(w.run(metaskill, '{"task": "test"}', lambda prompt: "feat: an answer of the host"))

        def cancel(_):
            other = threading.Thread(target=w.cancel)
            other.start()
            other.join()
            return "too late"

        try:
            w.run(metaskill, '{"task": "test"}', cancel)
        except Failure as failure:
            if failure.code != INTERRUPTED:
                raise
            print("canceled")


if __name__ == "__main__":
    main(*sys.argv[1:])
