// Breaks the sources in one place at a time, and asks whether a test notices: an edit that no test kills is a rule without a
// test, or changes nothing. An edit that only a limit of time ends is counted by itself: nobody knows whether a test would have
// noticed it. Works in a copy of the workspace. Draws are a function of the seed and the sources.
//
//   node scripts/mutants.mjs --seed 1 --count 120 [--list FILE]   draws, and records the edits with their verdicts
//   node scripts/mutants.mjs --from FILE [--only lived] [--list FILE]   runs recorded edits again, wherever they stand now
//   --files N: how many test files may run for one edit, 40 by default, the nearest ones; --seconds N: how long, 75 by default
//   --long: the tests of edits that lived run again, thoroughly and with five times the limits
//
// Limits of time grow with the load of the machine, so that a busy one does not let more edits live.
import { execFileSync, fork } from "node:child_process"
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { availableParallelism, loadavg, tmpdir } from "node:os"
import { basename, dirname, join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { parseArgs } from "node:util"
import { applied, draw, locate } from "./mutants/edits.mjs"
import { related } from "./mutants/related.mjs"
import { compiler } from "./mutants/types.mjs"
import { readWorkspace, root } from "./workspace.mjs"

/** How long tests may be silent before one counts as one that hangs, in seconds: longer than the limit of one test. */
const silence = 75

/** How much slower than an idle one this machine is, within reason. */
const slowness = () => Math.min(4, Math.max(1, loadavg()[0] / availableParallelism()))

const left = new Set(["node_modules", "dist", "build", "coverage", ".git", ".vite"])

/** Sources that are broken: those of published packages, without barrels, which `npm run codegen` writes. */
export const sourcesOf = (workspace) =>
  workspace.packages.filter(({ library }) => library).flatMap(({ modules }) => modules)
    .filter(({ path }) => basename(path) !== "index.ts")

/** A copy of the workspace whose packages import each other, with the installed dependencies of the original. */
const copy = (from) => {
  const to = realpathSync(mkdtempSync(join(tmpdir(), "mutants-")))
  execFileSync("chmod", ["755", to])
  cpSync(from, to, { recursive: true, verbatimSymlinks: true, filter: (path) => !left.has(basename(path)) })
  const link = (folder) => {
    const source = join(from, folder)
    for (const name of readdirSync(source)) {
      if (name === "@effect-mcp" || name.startsWith(".vite")) continue
      mkdirSync(join(to, folder), { recursive: true })
      symlinkSync(join(source, name), join(to, folder, name))
    }
  }
  link("node_modules")
  mkdirSync(join(to, "node_modules/@effect-mcp"))
  for (const name of readdirSync(join(from, "packages"))) {
    symlinkSync(join("../../packages", name), join(to, "node_modules/@effect-mcp", name))
    if (readdirSync(join(from, "packages", name)).includes("node_modules")) link(join("packages", name, "node_modules"))
  }
  mkdirSync(join(to, "tmp"))
  return to
}

/** A process and all that it started, also what has a group of its own. */
const familyOf = (pid) => {
  const rows = execFileSync("ps", ["-eo", "pid=,ppid="], { encoding: "utf8" }).trim().split("\n")
    .map((row) => row.trim().split(/\s+/).map(Number))
  const family = [pid]
  for (const parent of family) for (const [child, of] of rows) if (of === parent) family.push(child)
  return family
}

/** Runs tests of a copy: one process for all runs, and another one after a run that hung. */
export const testsOf = (at, { long = false } = {}) => {
  let child
  const kill = () => {
    if (child === undefined) return
    for (const pid of familyOf(child.pid)) {
      try {
        process.kill(pid, "SIGKILL")
      } catch {
        // It has ended.
      }
    }
    child = undefined
  }
  const start = () =>
    fork(fileURLToPath(new URL("mutants/runner.mjs", import.meta.url)), [at], {
      cwd: at,
      detached: true,
      stdio: ["ignore", "ignore", "ignore", "ipc"],
      env: { ...process.env, TMPDIR: join(at, "tmp"), ...long ? { EFFECT_MCP_TEST_LONG: "1" } : {} }
    })
  const run = ({ hang = silence, seconds, ...request }) =>
    new Promise((resolve) => {
      child ??= start()
      const slow = slowness()
      let last = request.tests[0]
      let failed
      let silent
      const end = (result) => {
        clearTimeout(silent)
        child?.removeAllListeners()
        resolve(result)
      }
      /** A run that has failed need not end, either. */
      const hangs = (title, isTime) => {
        end({ failure: failed ?? { test: last, title, isTime }, passed: [] })
        kill()
      }
      const wait = (seconds) => {
        clearTimeout(silent)
        silent = setTimeout(() => hangs("time", true), seconds * slow * 1000)
      }
      wait(hang)
      child.on("message", ({ failure, result, told }) => {
        if (result !== undefined) return end(result)
        failed ??= failure
        last = told ?? last
        wait(failed === undefined ? hang : Math.min(hang, 5))
      })
      child.on("exit", (code, signal) => hangs(`the end of its process (${signal ?? code})`, false))
      child.send({ ...request, seconds: seconds * slow })
    })
  return { run, close: kill }
}

/**
 * One edit in a copy: `killed` when a test that passes without the edit fails with it, `time` when a limit of time ended such a test,
 * else `lived`. `passes` remembers which tests pass without an edit.
 */
export const judge = async ({ at, edit, file, hang, passes, run, seconds, tests }) => {
  const path = join(at, edit.file)
  const changed = [edit.file]
  for (;;) {
    writeFileSync(path, applied(file.text, edit))
    const some = tests.filter((one) => passes.get(one) !== false)
    const { failure, passed } = await run({ changed, hang, seconds, tests: some })
    writeFileSync(path, file.text)
    for (const test of passed) passes.set(test, true)
    if (failure === undefined) return { verdict: "lived", ran: passed.length }
    if (!passes.has(failure.test)) {
      // A test that fails without the edit too says nothing.
      const without = await run({ changed, hang, seconds: 60, tests: [failure.test] })
      passes.set(failure.test, without.failure === undefined)
      if (without.failure !== undefined) {
        console.log(`     fails without an edit: ${failure.test} > ${without.failure.title}: ${without.failure.error}`)
        continue
      }
    }
    return { verdict: failure.isTime ? "time" : "killed", by: `${failure.test} > ${failure.title}`.trim() }
  }
}

const short = (text) => {
  const line = text.replace(/\s+/g, " ")
  return line.length > 70 ? `${line.slice(0, 67)}...` : line
}

const shown = ({ after, before, file, line, operator }) =>
  `${file}:${line} ${operator}: ${short(before)} -> ${after === "" ? "nothing" : short(after)}`

export const recorded = ({ after, before, by, file, line, nth, operator, text, verdict, within }) => ({
  file,
  line,
  within,
  operator,
  text,
  before,
  after,
  nth,
  verdict,
  by
})

export const drawn = (files, seed, count) => {
  const compiles = compiler(root, files)
  const byPath = new Map(files.map((file) => [file.path, file]))
  const edits = []
  let rejected = 0
  for (const edit of draw(files, seed)) {
    if (edits.length === count) break
    const file = byPath.get(edit.file)
    if (compiles(file, applied(file.text, edit))) edits.push(edit)
    else rejected++
  }
  console.log(`${edits.length} edits drawn with seed ${seed}; the compiler rejected ${rejected} others`)
  return edits
}

const main = async () => {
  const { values } = parseArgs({
    options: {
      seed: { type: "string", default: "1" },
      count: { type: "string", default: "20" },
      files: { type: "string", default: "40" },
      seconds: { type: "string", default: "75" },
      list: { type: "string" },
      from: { type: "string" },
      only: { type: "string" },
      long: { type: "boolean", default: false }
    }
  })
  const workspace = readWorkspace(root)
  const files = sourcesOf(workspace)
  const list = values.from === undefined
    ? drawn(files, values.seed, Number(values.count)).map((edit) => ({ edit, recorded: recorded(edit) }))
    : JSON.parse(readFileSync(values.from, "utf8")).map((one) => ({ edit: locate(files, one), recorded: one }))
  const write = () => {
    if (values.list === undefined) return
    mkdirSync(dirname(values.list), { recursive: true })
    writeFileSync(values.list, `${JSON.stringify(list.map((one) => one.recorded), null, 2)}\n`)
  }
  write()
  const at = copy(root)
  const ways = [{ runner: testsOf(at), times: 1 }]
  if (values.long) ways.push({ runner: testsOf(at, { long: true }), times: 5 })
  process.on("exit", () => {
    for (const { runner } of ways) runner.close()
    rmSync(at, { recursive: true, force: true, maxRetries: 10 })
  })
  const testsFor = related(workspace)
  const byPath = new Map(files.map((file) => [file.path, file]))
  const passes = new Map()
  const wanted = list.filter((one) => values.only === undefined || (one.recorded.verdict ?? "new") === values.only)
  const gone = wanted.filter(({ edit }) => edit === undefined)
  const found = wanted.filter(({ edit }) => edit !== undefined)
  const late = []
  const lived = []
  for (const [index, one] of found.entries()) {
    const begin = performance.now()
    const file = byPath.get(one.edit.file)
    const tests = testsFor(one.edit.file)
    let result
    for (const { runner, times } of ways) {
      const limits = { seconds: times * Number(values.seconds), tests: tests.slice(0, times * Number(values.files)) }
      result = await judge({ at, edit: one.edit, file, passes, run: runner.run, ...limits })
      if (result.verdict !== "lived") break
    }
    const before = one.recorded.verdict
    one.recorded = { ...recorded(one.edit), ...result.verdict === "lived" ? { verdict: "lived" } : result }
    write()
    if (result.verdict === "lived") lived.push(one.edit)
    if (result.verdict === "time") late.push(one.edit)
    const how = result.verdict !== "lived" ? `by ${result.by}` : `${result.ran} of ${tests.length} files ran`
    const changed = before === undefined || before === result.verdict ? "" : `, ${before} before`
    const took = `${((performance.now() - begin) / 1000).toFixed(0)} s`
    console.log(`${index + 1}/${found.length} ${result.verdict}${changed} ${shown(one.edit)}; ${how} (${took})`)
  }
  for (const { recorded } of gone) console.log(`not found anymore: ${shown(recorded)}`)
  for (const [edits, what] of [[late, "were ended by a limit of time"], [lived, "lived"]]) {
    console.log(`\n${edits.length} of ${found.length} ${what}`)
    for (const edit of edits) console.log(`  ${shown(edit)}\n    in ${edit.within || "the module"}: ${edit.text}`)
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
    process.on(signal, () => {
      console.log(`ended by ${signal}`)
      process.exit(130)
    })
  }
  await main()
  process.exit()
}
