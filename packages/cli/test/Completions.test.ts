/**
 * The completion script in a bash, as a user sources it.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFileSync } from "node:child_process"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { folder, run } from "./Program.js"

/** What bash offers for the last word of each line. */
const offered = (script: string, lines: ReadonlyArray<string>): ReadonlyArray<ReadonlyArray<string>> => {
  const program = `
    source "$1"
    shift
    for line; do
      IFS='|' read -ra COMP_WORDS <<< "$line|."
      unset 'COMP_WORDS[-1]'
      COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
      COMPREPLY=()
      of=$(complete -p effect-mcp | sed 's/.*-F \\([^ ]*\\).*/\\1/')
      "$of" effect-mcp "\${COMP_WORDS[COMP_CWORD]}" "\${COMP_WORDS[COMP_CWORD - 1]}"
      echo "\${COMPREPLY[*]}"
    done`
  const words = lines.map((line) => `effect-mcp|${line.replaceAll(" ", "|")}`)
  return execFileSync("bash", ["-c", program, "bash", script, ...words], { encoding: "utf8" })
    .split("\n").slice(0, -1).map((line) => line.split(" ").filter((word) => word !== ""))
}

describe("The script that completes", () => {
  it.scopedLive("commands, options, choices and files in bash", () =>
    Effect.gen(function*() {
      const cwd = yield* folder
      const script = join(cwd, "completions.bash")
      const { code, out } = yield* run(["--completions", "bash"])
      assert.strictEqual(code, 0)
      writeFileSync(script, out)
      const cases: ReadonlyArray<readonly [line: string, ...offered: ReadonlyArray<string>]> = [
        ["in", "init", "inspect"],
        ["call --tim", "--timeout"],
        ["call --json --tim", "--timeout"],
        ["call weather forecast --tim", "--timeout"],
        ["tasks wa", "watch"],
        ["tasks watch --js", "--json"],
        ["call --revision 2025-1", "2025-11-25"],
        ["call --server-log w", "warning"],
        ["init --template h", "http", "host"],
        [`inspect --config ${cwd}/comp`, script],
        // What stands after -- is completed by bash itself.
        ["call --json -- node --tim"]
      ]
      assert.deepStrictEqual(offered(script, cases.map(([line]) => line)), cases.map(([, ...words]) => words))
    }))
})
