import { assert, describe, it } from "@effect/vitest"
import * as WindowsCommand from "../../src/subprocess/WindowsCommand.js"

const files = (...names: ReadonlyArray<string>): WindowsCommand.System => ({
  env: { Path: "C:\\bin;C:\\Program Files\\nodejs", PATHEXT: ".COM;.EXE;.BAT;.CMD" },
  cwd: "D:\\work",
  exists: (file) => names.some((name) => name.toLowerCase() === file.toLowerCase()),
  cmd: "C:\\Windows\\system32\\cmd.exe"
})

/** Removes the escapes as `cmd.exe` does: a caret escapes the next character. */
const unescape = (line: string) => line.replace(/\^(.)/g, "$1")

/** Cuts a line into arguments as the C runtime does. */
const cut = (line: string): ReadonlyArray<string> => {
  const args: Array<string> = []
  let arg = ""
  let quoted = false
  for (let at = 0; at < line.length; at++) {
    const slashes = /^\\*/.exec(line.slice(at))![0].length
    if (line[at + slashes] === "\"") {
      arg += "\\".repeat(Math.floor(slashes / 2))
      if (slashes % 2 === 1) arg += "\""
      else quoted = !quoted
      at += slashes
    } else if (slashes > 0) {
      arg += "\\".repeat(slashes)
      at += slashes - 1
    } else if (line[at] === " " && !quoted) {
      args.push(arg)
      arg = ""
    } else arg += line[at]
  }
  return [...args, arg]
}

const nasty = [
  "plain",
  "two words",
  "",
  "a&b|c>d<e^f",
  "%PATH%",
  "say \"hi\"",
  "ends\\",
  "\\\\\"x\\\\",
  "(paren) [bracket]; a,b * ? !x!",
  "a\\b\\\"c"
]

describe("WindowsCommand", () => {
  it("finds a program as Windows does", () => {
    const find = (command: string, ...names: ReadonlyArray<string>) =>
      WindowsCommand.invocation(command, [], files(...names))?.command
    assert.strictEqual(find("node", "C:\\Program Files\\nodejs\\node.exe"), "C:\\Program Files\\nodejs\\node.EXE")
    assert.strictEqual(find("node", "C:\\bin\\node.exe", "C:\\Program Files\\nodejs\\node.exe"), "C:\\bin\\node.EXE")
    assert.strictEqual(find("node.exe", "C:\\bin\\node.exe"), "C:\\bin\\node.exe")
    assert.strictEqual(find(".\\tool.exe", "D:\\work\\tool.exe"), "D:\\work\\tool.exe")
    assert.strictEqual(find("missing"), "missing")
  })

  it("passes arguments to a program unchanged", () => {
    assert.deepStrictEqual(
      WindowsCommand.invocation("node", ["a b", "%x%"], files("C:\\bin\\node.exe")),
      { command: "C:\\bin\\node.EXE", args: ["a b", "%x%"], verbatim: false }
    )
  })

  it("starts a batch file by the command interpreter, with every argument escaped", () => {
    const invocation = WindowsCommand.invocation("npx", nasty, files("C:\\Program Files\\nodejs\\npx.cmd"))!
    assert.strictEqual(invocation.command, "C:\\Windows\\system32\\cmd.exe")
    assert.isTrue(invocation.verbatim)
    assert.deepStrictEqual(invocation.args.slice(0, 3), ["/d", "/s", "/c"])
    const line = invocation.args[3]!.slice(1, -1)
    assert.isTrue(line.startsWith("C:\\Program^ Files\\nodejs\\npx.CMD "))
    assert.notMatch(line.replace(/\^./g, ""), /["&|<>%!]/)
    assert.deepStrictEqual(cut(unescape(line).slice("C:\\Program Files\\nodejs\\npx.CMD ".length)), nasty)
  })

  it("escapes twice for the batch files of node_modules, which pass their arguments on", () => {
    const invocation = WindowsCommand.invocation(
      ".\\node_modules\\.bin\\server.cmd",
      nasty,
      files("D:\\work\\node_modules\\.bin\\server.cmd")
    )!
    const [, ...rest] = /^\S+ (.*)$/.exec(invocation.args[3]!.slice(1, -1))!
    assert.deepStrictEqual(cut(unescape(unescape(rest[0]!))), nasty)
  })

  it("refuses an argument that cannot be passed to a batch file", () => {
    assert.isUndefined(WindowsCommand.invocation("npx", ["a\nb"], files("C:\\bin\\npx.cmd")))
  })
})
