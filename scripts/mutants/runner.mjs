// A process of its own that keeps vitest loaded, and runs test files of a workspace in the order that it is told, until the first
// failure or a limit of time. The script that started it kills it when a test does not end.
//
//   node scripts/mutants/runner.mjs <workspace>
import { join, relative } from "node:path"
import { createVitest } from "vitest/node"

const root = process.argv[2]

/** Packages whose files each run in a process of their own here: what a broken source leaves in a process may fail the next file. */
const isolated = ["node"]

let failure
let passed
let vitest

const told = (path) => process.send({ told: relative(root, path) })

const fail = (path, title, error) => {
  if (failure !== undefined) return
  const text = String(error ?? "").split("\n")[0].slice(0, 200)
  failure = { test: relative(root, path), title, error: text, isTime: text.startsWith("Test timed out in") }
  process.send({ failure })
  void vitest.cancelCurrentRun("test-failure")
}

const reporter = {
  onTestModuleStart: (module) => told(module.moduleId),
  onTestCaseResult: (test) => {
    told(test.module.moduleId)
    const { errors, state } = test.result()
    if (state === "failed") fail(test.module.moduleId, test.fullName, errors[0]?.message)
  },
  onTestModuleEnd: (module) => {
    told(module.moduleId)
    if (module.state() === "failed") fail(module.moduleId, "", module.errors()[0]?.message)
    else if (!vitest.isCancelling) passed.push(relative(root, module.moduleId))
  }
}

/** As told: vitest would run the largest files first. */
class AsTold {
  shard(files) {
    return files
  }
  sort(files) {
    return files
  }
}

const make = async (isIsolated) => {
  const made = await createVitest("test", {
    root,
    watch: false,
    silent: true,
    reporters: [reporter],
    project: "!interop*",
    isolate: isIsolated,
    // An edit that a test notices once is noticed.
    retry: 0,
    // Shorter than the time after which a silent test counts as one that hangs.
    testTimeout: 60_000,
    fileParallelism: false,
    sequence: { sequencer: AsTold }
  })
  const specifications = await made.globTestSpecifications()
  return { vitest: made, specifications: new Map(specifications.map((one) => [relative(root, one.moduleId), one])) }
}

const made = new Map()

/** What the last run has changed has its own text again. */
let before = []

const run = async ({ changed, seconds, tests }) => {
  failure = undefined
  passed = []
  let isLate = false
  const begin = performance.now()
  const rest = [...tests]
  while (rest.length > 0 && failure === undefined && !isLate) {
    const isIsolated = isolated.includes(rest[0].split("/")[1])
    const until = rest.findIndex((path) => isolated.includes(path.split("/")[1]) !== isIsolated)
    const some = rest.splice(0, until === -1 ? rest.length : until)
    if (!made.has(isIsolated)) made.set(isIsolated, await make(isIsolated))
    for (const one of made.values()) {
      for (const path of [...before, ...changed]) one.vitest.invalidateFile(join(root, path))
    }
    const { specifications } = made.get(isIsolated)
    vitest = made.get(isIsolated).vitest
    const left = seconds * 1000 - (performance.now() - begin)
    const limit = setTimeout(() => {
      isLate = true
      void vitest.cancelCurrentRun("keyboard-input")
    }, Math.max(0, left))
    const known = some.map((path) => specifications.get(path)).filter((one) => one !== undefined)
    const { unhandledErrors } = await vitest.runTestSpecifications(known)
    clearTimeout(limit)
    if (failure === undefined && !isLate && unhandledErrors.length > 0) {
      fail(some[0], "an error that no test handles", unhandledErrors[0]?.message)
    }
  }
  before = changed
  return { failure, passed }
}

process.on("message", (request) => void run(request).then((result) => process.send({ result })))
process.on("disconnect", () => process.exit())
