// A reporter of vitest: prints the files whose tests took longest, so that a run of the tests says where its time goes, and the tests
// that passed only when they ran a second time. More of these than one busy machine explains fail the run.
import { relative } from "node:path"

const COUNT = 10

/** How many tests may pass only when they run again. */
const MAX_AGAIN = 5

export default class Slowest {
  onTestRunEnd(modules) {
    const files = modules.map((one) => ({
      name: relative(process.cwd(), one.moduleId),
      took: one.diagnostic().duration
    }))
      .sort((a, b) => b.took - a.took).slice(0, COUNT)
    console.log("\n The files that took longest:")
    for (const { name, took } of files) console.log(`${(took / 1000).toFixed(1).padStart(8)} s  ${name}`)
    const again = modules.flatMap((one) => [...one.children.allTests("passed")])
      .filter((test) => test.diagnostic()?.flaky === true)
    if (again.length > 0) console.log("\n Passed only when they ran again:")
    for (const { fullName, module } of again) {
      console.log(`          ${fullName} (${relative(process.cwd(), module.moduleId)})`)
    }
    if (again.length > MAX_AGAIN) {
      console.log(`\n ${again.length} tests had to run again, and ${MAX_AGAIN} may.`)
      process.exitCode = 1
    }
  }
}
