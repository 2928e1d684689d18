// Writes what became of each test into results.json: the tests by their files and names, files that could not be loaded, and errors that
// belong to no test.
import { writeFileSync } from "node:fs"
import { relative } from "node:path"

const textOf = (error) => String(error?.message ?? error).split("\n")[0].slice(0, 300)

export default class {
  onTestRunEnd(modules, unhandled) {
    const tests = []
    for (const module of modules) {
      const file = relative(process.cwd(), module.moduleId)
      for (const error of module.errors()) tests.push({ file, name: "(the file)", state: "failed", why: textOf(error) })
      for (const test of module.children.allTests()) {
        const { errors, state } = test.result()
        tests.push({ file, name: test.fullName, state, why: errors?.[0] === undefined ? undefined : textOf(errors[0]) })
      }
    }
    writeFileSync("results.json", JSON.stringify({ tests, unhandled: unhandled.map(textOf) }, null, 2))
  }
}
