// Generates the edition for Effect 4 in build/edition4: the sources by the codemod and the modules that are written by hand, beside the
// packages that scripts/edition4 locks. With --check, it also says whether the edition is true: every rule fits two files, running
// the codemod twice gives the same, little is written by hand, the sources have no type errors, and the tests of the kit,
// of jsonrpc, protocol, definition and client pass but for those that exceptions.json names with a reason. Ends by itself: each step has a limit.
//
//   node scripts/edition4.mjs [--check]
import { spawn, spawnSync } from "node:child_process"
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { newCounts, transform } from "./edition4/codemod.mjs"
import { byHandFor, codeLines, modulesOf, write } from "./edition4/generate.mjs"
import { moveRules } from "./edition4/modules.mjs"
import { nameRules } from "./edition4/names.mjs"
import { rules } from "./edition4/rules.mjs"
import { packageOf, wrongVersion } from "./nodes.mjs"
import { root } from "./workspace.mjs"

const home = join(root, "scripts/edition4")
const edition = join(root, "build/edition4")

/** The most lines of code that may be written by hand, in percent. */
const MOST_BY_HAND = 4

const minutes = (count) => count * 60_000

/** What is false about the rules: those that fit fewer than two files, and shims that nothing uses. */
export const idleRules = ({ counts, shims }, all = [...rules.map(({ name }) => name), ...nameRules, ...moveRules]) => [
  ...all.flatMap((rule) => {
    const files = [...counts.fits.get(rule) ?? []]
    return files.length >= 2 ? [] : [`The rule "${rule}" fits ${files.length} files: ${files[0] ?? "remove it"}`]
  }),
  ...[...shims.values()].filter((shim) => !counts.shimFits.has(shim)).map((shim) => `Nothing uses ${shim}`)
]

/** The files that the codemod would change a second time. */
export const unstable = ({ modules, shimsFor }) =>
  modules.filter(({ isByHand, path, text }) =>
    !isByHand && transform(path, text, { counts: newCounts(), shims: shimsFor(path), byHand: byHandFor(path) }) !== text
  ).map(({ path }) => `The codemod changes ${path} a second time`)

/** The share of the lines of code that are written by hand, in percent. */
export const shareByHand = (modules) => {
  const lines = (some) => some.reduce((sum, { text }) => sum + codeLines(text), 0)
  return 100 * lines(modules.filter(({ isByHand }) => isByHand)) / lines(modules)
}

/** The name of an exception for all tests of a file: they are about what version 4 has not. */
const ALL = "(all)"

/** The file of an exception for an error that belongs to no test; the name of the exception is the text of the error. */
const UNHANDLED = "(unhandled)"

/** The beginning of the reason for a test that should pass, and whose failure is not explained yet. */
const OPEN = "Open: "

/** What is false about the tests: failures without an exception, and exceptions that are not needed. */
export const judge = ({ tests, unhandled }, exceptions) => {
  const idOf = ({ file, name }) => `${file} > ${name}`
  const known = new Set(exceptions.map(idOf))
  const isKnown = (test) => known.has(idOf(test)) || known.has(idOf({ file: test.file, name: ALL }))
  const of = (one) => tests.filter(({ file, name }) => file === one.file && (one.name === ALL || one.name === name))
  const ofTests = exceptions.filter(({ file }) => file !== UNHANDLED)
  const ofNoTest = exceptions.filter(({ file }) => file === UNHANDLED).map(({ name }) => name)
  return [
    ...exceptions.filter(({ why }) => typeof why !== "string" || why === "").map((one) => `No reason for ${idOf(one)}`),
    ...ofTests.flatMap((one) => {
      const states = of(one).map(({ state }) => state)
      return states.includes("failed")
        ? []
        : [`Remove the exception, because the test ${states[0] ?? "is not there"}: ${idOf(one)}`]
    }),
    ...tests.flatMap((test) =>
      test.state === "passed" || isKnown(test) ? [] : [`${idOf(test)}: ${test.why ?? test.state}`]
    ),
    ...ofNoTest.filter((error) => !unhandled.includes(error)).map((error) =>
      `Remove the exception of no test: ${error}`
    ),
    ...unhandled.filter((error) => !ofNoTest.includes(error)).map((error) =>
      `An error that belongs to no test: ${error}`
    )
  ]
}

/** Installs what the edition needs, when it is not there. */
const install = () => {
  const files = ["package.json", "package-lock.json"]
  const isSame = (file) =>
    existsSync(join(edition, file)) &&
    readFileSync(join(home, file), "utf8") === readFileSync(join(edition, file), "utf8")
  if (existsSync(join(edition, "node_modules/.package-lock.json")) && files.every(isSame)) return
  mkdirSync(edition, { recursive: true })
  rmSync(join(edition, "package-lock.json"), { force: true })
  copyFileSync(join(root, ".npmrc"), join(edition, ".npmrc"))
  for (const file of files) copyFileSync(join(home, file), join(edition, file))
  console.log("installing what the edition for Effect 4 needs")
  // The engines that packages ask for are those of the Node that the edition runs on, not of this one.
  const { status } = spawnSync("npm", ["ci", "--loglevel=error"], {
    cwd: edition,
    stdio: "inherit",
    timeout: minutes(3)
  })
  if (status !== 0) {
    rmSync(join(edition, "package-lock.json"), { force: true })
    throw new Error("The packages for Effect 4 could not be installed")
  }
}

const MAJOR = "22"

const node = () => {
  const path = join(edition, "node_modules", packageOf(MAJOR), "bin/node")
  if (!existsSync(path)) {
    throw new Error(`There is no ${path}: add ${packageOf(MAJOR)} to scripts/edition4/package.json, if npm has it`)
  }
  const wrong = wrongVersion(MAJOR, spawnSync(path, ["--version"], { encoding: "utf8" }).stdout ?? "")
  if (wrong !== undefined) throw new Error(`${path}: ${wrong}`)
  return path
}

/** Runs a program of the edition, which is killed with all that it started when the limit has passed. */
const run = (limit, ...args) =>
  new Promise((resolve) => {
    let out = ""
    const child = spawn(node(), args, { cwd: edition, detached: true, stdio: ["ignore", "pipe", "pipe"] })
    const timer = setTimeout(() => {
      out += `\nIt did not end within ${limit / 1000} s\n`
      process.kill(-child.pid, "SIGKILL")
    }, limit)
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text) => out += text)
    child.on("close", (status) => {
      clearTimeout(timer)
      resolve({ out, status: status ?? 1 })
    })
  })

/** The type errors of the sources. */
const typeErrors = async () => {
  const { out, status } = await run(
    minutes(4),
    "node_modules/typescript/bin/tsc",
    "-p",
    "tsconfig.json",
    "--pretty",
    "false"
  )
  const found = out.split("\n").filter((line) => /error TS\d+/.test(line))
  if (status !== 0 && found.length === 0) throw new Error(`The compiler failed:\n${out.trim()}`)
  return found
}

const results = async () => {
  rmSync(join(edition, "results.json"), { force: true })
  const { out } = await run(minutes(9), "node_modules/vitest/vitest.mjs", "run")
  if (!existsSync(join(edition, "results.json"))) throw new Error(`The tests did not end:\n${out.trim().slice(-2000)}`)
  return JSON.parse(readFileSync(join(edition, "results.json"), "utf8"))
}

const check = async (generated) => {
  const begin = performance.now()
  const share = shareByHand(generated.modules)
  console.log(`written by hand: ${share.toFixed(1)} % of the lines of code, of at most ${MOST_BY_HAND} %`)
  const heavy = share > MOST_BY_HAND ? [`More than ${MOST_BY_HAND} % of the lines of code are written by hand`] : []
  const errors = await typeErrors()
  console.log(`type errors of the sources: ${errors.length}`)
  const exceptions = JSON.parse(readFileSync(join(home, "exceptions.json"), "utf8"))
  const found = await results()
  const passed = found.tests.filter(({ state }) => state === "passed").length
  const open = exceptions.filter(({ why }) => why.startsWith(OPEN)).length
  console.log(
    `tests: ${passed} passed, ${exceptions.length} left out by exceptions.json, of these ${open} not explained`
  )
  const wrong = [
    ...idleRules(generated),
    ...unstable(generated),

    ...heavy,
    ...errors,
    ...judge(found, exceptions)
  ]
  for (const line of wrong.slice(0, 60)) console.log(line)
  console.log(`${wrong.length} problems, after ${((performance.now() - begin) / 1000).toFixed(0)} s`)
  if (wrong.length > 0 || passed === 0) process.exitCode = 1
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  install()
  const generated = modulesOf()
  write(edition, generated.modules)
  for (const file of ["tsconfig.json", "vitest.config.mjs", "vitest.setup.mjs", "reporter.mjs"]) {
    copyFileSync(join(home, file), join(edition, file))
  }
  console.log(`wrote ${generated.modules.length} modules for Effect 4 to build/edition4`)
  if (process.argv.includes("--check")) await check(generated)
}
