// Runs the code of the documents, which docs.mjs compiles: each module is loaded, the client of README.md calls the server of
// README.md, and a program of a guide must print what its page says: "`npx tsc && node client.js` prints:" and the block after it,
// where `…` stands for any text of one line. Tests are not run here: the package `testing` runs those of its guide and of the READMEs. Neither are mistakes that
// the compiler must find, parts of programs with a value that is only declared, and programs that wait for a network or a person.
// Run the build first.
import { spawnSync } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { pathToFileURL } from "node:url"
import ts from "typescript"
import { modulesOf } from "./docs.mjs"
import { root } from "./workspace.mjs"

/** Programs of documents that end by themselves, and whose output no document has. */
const programs = [{ path: "README.md", name: "client.js" }]

/** The programs of a document that it says the output of. */
export const promised = (text) =>
  Array.from(
    text.matchAll(/`npx tsc && node (\S+\.js)`[^`]*?prints[^`]*?:\n\n```text\n([^]*?)```/g),
    ([, name, prints]) => ({ name, prints: prints.trim() })
  )

/** Whether a program has printed what its document says. */
export const isAsPromised = (prints, printed) =>
  new RegExp(`^${prints.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replaceAll("…", ".*")}$`).test(printed.trim())

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
  const paths = [...new Set(modules.map(({ path }) => path))].filter((path) => path.endsWith(".md"))
  const told = paths.flatMap((path) => promised(readFileSync(join(at, path), "utf8")).map((one) => ({ path, ...one })))
  for (const { name, path, prints } of [...programs, ...told]) {
    const { file } = modules.find((one) => one.path === path && compiled(one.name) === name)
    const { status, stderr, stdout } = spawnSync(process.execPath, [name], {
      cwd: dirname(file),
      encoding: "utf8",
      timeout: 30_000
    })
    const isRight = status === 0 && (prints === undefined || isAsPromised(prints, stdout))
    if (!isRight) failed++
    console.log(`${path}: ${name} ended with ${status}`)
    if (!isRight || prints === undefined) console.log(`${stdout}${stderr}`)
    if (!isRight && prints !== undefined) console.log(`The document says:\n${prints}`)
  }
  const left = [...counts].filter(([kind]) => kind !== "module").map(([kind, count]) => `${count} ${kind}s`).join(", ")
  console.log(`${counts.get("module")} modules loaded, ${failed} failed; not run: ${left}`)
  return failed
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  process.exitCode = await load(root) === 0 ? 0 : 1
}
