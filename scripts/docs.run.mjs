// Runs the code of the documents, which docs.mjs compiles: each module is loaded, the client of README.md calls the server of
// README.md, the command line calls its other servers, and a program of a guide must print what its page says: "`npx tsc && node client.js` prints:" and the block after it,
// where `…` stands for any text of one line. Tests are not run here: the package `testing` runs those of its guide and of the READMEs. Neither are mistakes that
// the compiler must find, parts of programs with a value that is only declared, and programs that wait for a network or a person.
// `docs.run.mjs modules` loads the modules, `docs.run.mjs server host` runs the programs of these guides; without a word it does both, for
// all guides. Run the build first.
import { execFile } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { pathToFileURL } from "node:url"
import ts from "typescript"
import { modulesOf } from "./docs.mjs"
import { root } from "./workspace.mjs"

/** Programs of documents that end by themselves, and whose output no document has. */
const programs = [{ path: "README.md", name: "client.js" }]

/** Servers of documents, and how the command line calls one: over standard streams, or over HTTP once the server listens. */
const servers = [
  { path: "README.md", name: "hello.js", call: ["hello", "name=Ada"], gives: "Hello, Ada!" },
  { path: "README.md", name: "http.js", url: "http://127.0.0.1:3000/mcp", call: ["forecast", "city=Oslo"], gives: "-4" }
]

const commandLine = join(root, "packages/cli/bin/effect-mcp.js")

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

/** How many programs run at a time. */
const LANES = 2

/** Runs a program in its folder; ends it after half a minute. */
const run = ({ file, name }) =>
  new Promise((resolve) => {
    execFile(process.execPath, [name], { cwd: dirname(file), timeout: 30_000 }, (error, stdout, stderr) =>
      resolve({ isOver: error === null, how: error === null ? "0" : error.code ?? error.signal, stdout, stderr }))
  })

/** Calls a server as its document says, and gives what the command line prints. */
const called = async ({ call, file, name, url }) => {
  const command = (...words) =>
    new Promise((resolve) =>
      execFile(
        process.execPath,
        [commandLine, "call", ...words],
        { cwd: dirname(file), timeout: 30_000 },
        (_, stdout, stderr) => resolve(`${stdout}${stderr}`)
      )
    )
  if (url === undefined) return command(...call, "--", process.execPath, name)
  const server = execFile(process.execPath, [name], { cwd: dirname(file), timeout: 60_000 })
  try {
    await new Promise((resolve) => {
      server.stdout.on("data", (text) => text.includes(url) && resolve())
      server.once("exit", resolve)
    })
    return await command(url, ...call, "--no-login")
  } finally {
    server.kill("SIGKILL")
  }
}

/** Calls servers, and gives how many have failed. */
const callAll = async (found) => {
  let failed = 0
  for (const one of found) {
    const printed = await called(one)
    const isRight = printed.includes(one.gives)
    if (!isRight) failed++
    console.log(`${one.path}: ${one.name} ${isRight ? "answers" : `does not answer with ${one.gives}: ${printed}`}`)
  }
  return failed
}

/** Runs programs, and gives how many have failed. */
const runAll = async (found) => {
  let failed = 0
  const waiting = [...found]
  const lane = async () => {
    for (let one = waiting.shift(); one !== undefined; one = waiting.shift()) {
      const { name, path, prints } = one
      const { how, isOver, stderr, stdout } = await run(one)
      const isRight = isOver && (prints === undefined || isAsPromised(prints, stdout))
      if (!isRight) failed++
      console.log(`${path}: ${name} ended with ${how}`)
      if (!isRight || prints === undefined) console.log(`${stdout}${stderr}`)
      if (!isRight && prints !== undefined) console.log(`The document says:\n${prints}`)
    }
  }
  await Promise.all(Array.from({ length: LANES }, lane))
  return failed
}

/** `guides` are the folders of docs whose programs run; without one, all, and every module is loaded. */
const load = async (at, guides) => {
  const modules = modulesOf(at).map((module) => ({ ...module, code: readFileSync(module.file, "utf8") }))
  for (const { code, file } of modules) {
    writeFileSync(compiled(file), ts.transpileModule(code, { compilerOptions }).outputText)
  }
  const counts = new Map()
  let failed = 0
  const isAll = guides.length === 0
  for (const { code, file, name, path } of isAll || guides.includes("modules") ? modules : []) {
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
  const paths = [...new Set(modules.map(({ path }) => path))].filter((path) =>
    path.endsWith(".md") && (isAll || guides.includes(path.split("/")[1]))
  )
  const told = paths.flatMap((path) => promised(readFileSync(join(at, path), "utf8")).map((one) => ({ path, ...one })))
  const others = isAll || guides.includes("modules") ? programs : []
  const located = (one) => ({
    ...one,
    file: modules.find(({ name, path }) => path === one.path && compiled(name) === one.name).file
  })
  failed += await runAll([...others, ...told].map(located))
  if (others.length > 0) failed += await callAll(servers.map(located))
  const left = [...counts].filter(([kind]) => kind !== "module").map(([kind, count]) => `${count} ${kind}s`).join(", ")
  const ran = others.length + told.length
  console.log(`${counts.get("module") ?? 0} modules loaded, ${ran} programs run, ${failed} failed; not run: ${left}`)
  return failed
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  process.exitCode = await load(root, process.argv.slice(2)) === 0 ? 0 : 1
}
