// Runs the code of the documents, which docs.mjs compiles: each module is loaded, and the client of README.md calls the server of
// README.md. Tests are not run here: the package `testing` runs those of its guide and of the READMEs. Neither are mistakes that
// the compiler must find, parts of programs with a value that is only declared, and programs that wait for a network or a person.
// Run the build first.
import { spawnSync } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"
import { dirname } from "node:path"
import { pathToFileURL } from "node:url"
import ts from "typescript"
import { modulesOf } from "./docs.mjs"
import { root } from "./workspace.mjs"

/** Programs of documents that end by themselves, with what they print. */
const programs = [{ path: "README.md", name: "client.js" }]

const compilerOptions = {
  module: ts.ModuleKind.ESNext,
  target: ts.ScriptTarget.ES2022,
  verbatimModuleSyntax: true
}

/** Why the code of a block is not loaded; `undefined` when it is. */
export const reason = (code) => {
  if (code.includes("@ts-expect-error")) return "mistake"
  if (/ from "(@effect\/)?vitest"| from "node:test"/.test(code)) return "test"
  if (/^declare /m.test(code) || /\brequire\(/.test(code)) return "part"
  return /\b(runMain|Layer\.launch|Effect\.run\w+|listen)\b/.test(code) ? "program" : undefined
}

const compiled = (file) => file.replace(/\.ts$/, ".js")

const load = async (at) => {
  const modules = modulesOf(at).map((module) => ({ ...module, code: readFileSync(module.file, "utf8") }))
  for (const { code, file } of modules) {
    writeFileSync(compiled(file), ts.transpileModule(code, { compilerOptions }).outputText)
  }
  const counts = new Map()
  let failed = 0
  for (const { code, file, name, path } of modules) {
    const kind = reason(code) ?? "module"
    counts.set(kind, (counts.get(kind) ?? 0) + 1)
    if (kind !== "module") continue
    try {
      await import(pathToFileURL(compiled(file)).href)
    } catch (error) {
      failed++
      console.log(`${path}, ${name}: ${error}`)
    }
  }
  for (const { name, path } of programs) {
    const { file } = modules.find((one) => one.path === path && compiled(one.name) === name)
    const { status, stderr, stdout } = spawnSync(process.execPath, [name], {
      cwd: dirname(file),
      encoding: "utf8",
      timeout: 30_000
    })
    if (status !== 0) failed++
    console.log(`${path}: ${name} ended with ${status}\n${stdout}${stderr}`)
  }
  const left = [...counts].filter(([kind]) => kind !== "module").map(([kind, count]) => `${count} ${kind}s`).join(", ")
  console.log(`${counts.get("module")} modules loaded, ${failed} failed; not run: ${left}`)
  return failed
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  process.exitCode = await load(root) === 0 ? 0 : 1
}
