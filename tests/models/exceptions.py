# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exceptions through functions, blocks, loops and tail calls: all kinds of handlers, payloads of all types, exceptions
kept as references and thrown again, branches out of what handles them, locals that live across. What happens on the way
goes into one number, which the model computes too.

Statements are tuples, whose first part names them; operands are ("local", index) or ("const", value).
"""
from values import MASK, TYPES, constant, random_value

AS_I64 = {"i32": "i64.extend_i32_u", "i64": "", "f32": "i32.reinterpret_f32 i64.extend_i32_u",
          "f64": "i64.reinterpret_f64", "v128": "i64x2.extract_lane 1"}
CALLS = {"call": "call $f{0}", "call_indirect": "i32.const {0} call_indirect (type $t{0})",
         "call_ref": "ref.func $f{0} call_ref $t{0}", "return_call": "return_call $f{0}",
         "return_call_indirect": "i32.const {0} return_call_indirect (type $t{0})"}
MAX_STEPS = 3000


class Thrown(Exception):
    def __init__(self, tag, values):
        super().__init__()
        self.tag, self.values = tag, values


class Trap(Exception):
    pass


class TooLong(Exception):
    pass


class Branch(Exception):
    pass  # its argument: the label


class TailCall(Exception):
    pass  # its arguments: function, arguments


class Function:
    """Statements, and which locals there are: parameters, others, two for exceptions, one for each loop."""

    def __init__(self, program, number):
        self.program, self.rng, self.number = program, program.rng, number
        self.types = program.signatures[number] + [self.rng.choice(TYPES) for _ in range(6)]
        self.exceptions = len(self.types)
        self.loops = 0
        self.labels = []
        self.budget = self.rng.choice([8, 16, 30])
        self.body = self.statements(0)

    def operand(self, type):
        fit = [index for index, other in enumerate(self.types) if other == type]
        if fit and self.rng.random() < 0.7:
            return ("local", self.rng.choice(fit))
        return ("const", random_value(self.rng, type))

    def statements(self, depth):
        return [self.statement(depth) for _ in range(self.rng.choice([1, 2, 3, 4]))]

    def statement(self, depth):
        rng, signatures, tags = self.rng, self.program.signatures, self.program.tags
        self.budget -= 1
        ways = ["log", "set"] * 3 + ["throw", "throw_if", "rethrow", "call", "call", "call", "branch", "loop", "if"] + ["try"] * 4
        if depth == 0:  # not at once out of it all
            ways = ["log", "set", "call", "call", "loop", "if"] + ["try"] * 6
        if self.budget < 0 or depth > 4:
            ways = ["log", "set"]
        way = rng.choice(ways)
        if way == "call" and self.number + 1 < len(signatures):
            callee = rng.randrange(self.number + 1, len(signatures))
            kinds = list(CALLS) if depth else ["call", "call_indirect", "call_ref"]
            return ("call", rng.choice(kinds), callee, [self.operand(type) for type in signatures[callee]])
        if way in ("throw", "throw_if"):
            tag = rng.randrange(len(tags))
            return (way, tag, [self.operand(type) for type in tags[tag]], self.operand("i32"))
        if way == "rethrow":
            return ("rethrow", rng.randrange(2))
        if way == "branch" and self.labels:
            return ("branch", rng.choice(self.labels), rng.random() < 0.6, self.operand("i32"))
        if way == "loop":
            self.loops += 1
            return ("loop", self.loops - 1, rng.choice([1, 2, 3]), self.statements(depth + 1))
        if way == "if":
            return ("if", self.operand("i32"), self.statements(depth + 1), self.statements(depth + 1))
        if way == "try":
            label = self.program.new_label()
            self.labels.append(label)
            body = self.statements(depth + 1)
            handlers = [(rng.choice(["catch", "catch_ref", "catch_all", "catch_all_ref"]), rng.randrange(len(tags)),
                         self.statements(depth + 1)) for _ in range(rng.choice([0, 1, 1, 2, 3]))]
            self.labels.pop()
            return ("try", label, body, handlers)
        index = rng.randrange(len(self.types))
        return ("log", index) if way == "log" else ("set", index, self.operand(self.types[index]))

    # As text.

    def push(self, type, operand):
        return f"local.get {operand[1]}" if operand[0] == "local" else constant(type, operand[1])

    def push_all(self, types, operands):
        return " ".join(self.push(type, operand) for type, operand in zip(types, operands))

    def text(self, statements):
        return "\n".join(getattr(self, "text_" + name)(*rest) for name, *rest in statements)

    def text_log(self, index):
        return f"local.get {index} {AS_I64[self.types[index]]} call $log"

    def text_set(self, index, operand):
        return f"{self.push(self.types[index], operand)} local.set {index}"

    def text_call(self, kind, callee, operands):
        return f"{self.push_all(self.program.signatures[callee], operands)} {CALLS[kind].format(callee)}"

    def text_throw(self, tag, operands, _):
        return f"{self.push_all(self.program.tags[tag], operands)} throw $e{tag}"

    def text_throw_if(self, tag, operands, condition):
        return f"{self.push('i32', condition)} i32.const 1 i32.and if {self.text_throw(tag, operands, condition)} end"

    def text_rethrow(self, which):
        return f"local.get {self.exceptions + which} throw_ref"

    def text_branch(self, label, conditional, condition):
        return f"{self.push('i32', condition)} i32.const 2 i32.and br_if {label}" if conditional else f"br {label}"

    def text_loop(self, number, count, body):
        counter = self.exceptions + 2 + number
        return (f"i32.const {count} local.set {counter}\nloop\n{self.text(body)}\n"
                f"local.get {counter} i32.const 1 i32.sub local.tee {counter} br_if 0 end")

    def text_if(self, condition, yes, no):
        return f"{self.push('i32', condition)} i32.const 4 i32.and if\n{self.text(yes)}\nelse\n{self.text(no)}\nend"

    def text_try(self, label, body, handlers):
        payloads = [(self.program.tags[tag] if "all" not in kind else []) + (["exnref"] if "ref" in kind else [])
                    for kind, tag, _ in handlers]
        lines = [f"block {label}"]
        lines += [f"block {label}h{at} (result {' '.join(payloads[at])})" for at in reversed(range(len(handlers)))]
        clauses = [f"({kind} {'' if 'all' in kind else f'$e{tag}'} {label}h{at})"
                   for at, (kind, tag, _) in enumerate(handlers)]
        lines += [f"try_table {' '.join(clauses)}", self.text(body), "end", f"br {label}"]
        for at, (kind, tag, handler) in enumerate(handlers):
            lines.append("end")
            if "ref" in kind:
                lines.append(f"local.set {self.exceptions + at % 2}")
            if "all" not in kind:
                lines += [f"{AS_I64[type]} call $log" for type in reversed(self.program.tags[tag])]
            lines += [self.text(handler), f"br {label}"]
        return "\n".join(lines + ["end"])


class Run:
    """One activation of a function."""

    def __init__(self, program, function, arguments):
        self.program, self.function = program, function
        self.locals = arguments + [0] * (len(function.types) - len(arguments))
        self.exceptions = [None, None]

    def value(self, operand):
        return self.locals[operand[1]] if operand[0] == "local" else operand[1]

    def run(self, statements):
        for name, *rest in statements:
            self.program.steps += 1
            if self.program.steps > MAX_STEPS:
                raise TooLong
            getattr(self, "run_" + name)(*rest)

    def run_log(self, index):
        self.program.log(self.function.types[index], self.locals[index])

    def run_set(self, index, operand):
        self.locals[index] = self.value(operand)

    def run_call(self, kind, callee, operands):
        arguments = [self.value(operand) for operand in operands]
        if kind.startswith("return"):
            raise TailCall(callee, arguments)
        self.program.call(callee, arguments)

    def run_throw(self, tag, operands, _):
        raise Thrown(tag, [self.value(operand) for operand in operands])

    def run_throw_if(self, tag, operands, condition):
        if self.value(condition) & 1:
            self.run_throw(tag, operands, condition)

    def run_rethrow(self, which):
        if self.exceptions[which] is None:
            raise Trap
        raise self.exceptions[which]

    def run_branch(self, label, conditional, condition):
        if not conditional or self.value(condition) & 2:
            raise Branch(label)

    def run_loop(self, _, count, body):
        for _ in range(count):
            self.run(body)

    def run_if(self, condition, yes, no):
        self.run(yes if self.value(condition) & 4 else no)

    def run_try(self, label, body, handlers):
        try:
            try:
                self.run(body)
            except Thrown as thrown:
                fit = [at for at, (kind, tag, _) in enumerate(handlers) if "all" in kind or tag == thrown.tag]
                if not fit:
                    raise
                kind, tag, handler = handlers[fit[0]]
                if "ref" in kind:
                    self.exceptions[fit[0] % 2] = thrown
                if "all" not in kind:
                    for type, value in reversed(list(zip(self.program.tags[tag], thrown.values))):
                        self.program.log(type, value)
                self.run(handler)
        except Branch as branch:
            if branch.args[0] != label:
                raise


class Program:
    def __init__(self, rng):
        self.rng = rng
        self.labels = self.steps = self.hash = 0
        self.tags = [[rng.choice(TYPES) for _ in range(rng.choice([0, 1, 1, 2, 3, 8]))] for _ in range(3)]
        self.signatures = [[rng.choice(TYPES) for _ in range(rng.choice([0, 1, 3, 6, 15]))]
                           for _ in range(rng.choice([2, 3, 5]))]
        self.functions = [Function(self, number) for number in range(len(self.signatures))]

    def new_label(self):
        self.labels += 1
        return f"$b{self.labels}"

    def log(self, type, value):
        bits = value >> 64 if type == "v128" else value
        self.hash = ((self.hash << 7 | self.hash >> 57) & MASK) ^ bits

    def call(self, number, arguments):
        while True:
            try:
                run = Run(self, self.functions[number], arguments)
                return run.run(run.function.body)
            except TailCall as call:
                number, arguments = call.args

    def text(self, arguments):
        lines = ["(module (global $hash (mut i64) (i64.const 0))",
                 "(func $log (param i64) global.get $hash i64.const 7 i64.rotl local.get 0 i64.xor global.set $hash)",
                 "(func (export \"hash\") (result i64) global.get $hash)"]
        lines += [f"(tag $e{i} (param {' '.join(types)}))" for i, types in enumerate(self.tags)]
        lines += [f"(type $t{i} (func (param {' '.join(types)})))" for i, types in enumerate(self.signatures)]
        lines.append(f"(table funcref (elem {' '.join(f'$f{i}' for i in range(len(self.functions)))}))")
        for i, function in enumerate(self.functions):
            more = function.types[len(self.signatures[i]):] + ["exnref"] * 2 + ["i32"] * function.loops
            lines += [f"(func $f{i} (type $t{i}) (local {' '.join(more)})", function.text(function.body), ")"]
        start = " ".join(constant(type, value) for type, value in zip(self.signatures[0], arguments))
        return "\n".join(lines + [f"(func (export \"run\") {start} call $f0))"])


def make(rng):
    commands = []
    for _ in range(10):
        program = Program(rng)
        arguments = [random_value(rng, type) for type in program.signatures[0]]
        outcome = "(assert_return (invoke \"run\"))"
        try:
            program.call(0, arguments)
        except Thrown:
            outcome = "(assert_exception (invoke \"run\"))"
        except Trap:
            outcome = "(assert_trap (invoke \"run\") \"null reference\")"
        except TooLong:
            continue
        commands += [program.text(arguments), outcome, f"(assert_return (invoke \"hash\") (i64.const {program.hash}))"]
    return "\n".join(commands) + "\n"
