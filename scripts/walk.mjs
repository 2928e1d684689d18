// Follows one warmed-up `tools/call` through our code: which modules and functions run, in the order of their first entry.
// packages/benchmarks/src/walks.ts makes the calls. The sources are bundled with a call of a recorder at the beginning of
// every function: each declaration, expression, arrow, method, accessor and constructor with a body counts as one, the fields
// of a class together as one, and the top level of a module not at all. V8's precise coverage counts the same.
// Only what runs at each of several repetitions is on the walk, so that a timer that fires meanwhile does not change it.
//
// Compares the tables of docs/architecture.md with the walks. `<!-- walk: name -->` before a table says that each module of its
// second column is entered after the one before; a module in parentheses is not entered at all. `--check` does not list modules
// and functions.
import { build } from "esbuild"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { pathToFileURL } from "node:url"
import ts from "typescript"
import { areas, idOf, readWorkspace, root } from "./workspace.mjs"

const page = "docs/architecture.md"
const subjects = "packages/benchmarks/src/walks.ts"

const WARM_UP = 30
const REPETITIONS = 5
/** How long a call may work on after its answer, in milliseconds. */
const REST = 20

/** How a function is called in the list: by its own name, or that of what it is assigned to. */
const nameOf = (node) => {
  if (ts.isConstructorDeclaration(node)) return "constructor"
  for (let at = node; at !== undefined && !ts.isBlock(at); at = at.parent) {
    if (at !== node && ts.isFunctionLike(at)) return "(anonymous)"
    if (at.name !== undefined && ts.isIdentifier(at.name)) return at.name.text
  }
  return "(anonymous)"
}

const isStatic = ({ modifiers }) => modifiers?.some(({ kind }) => kind === ts.SyntaxKind.StaticKeyword) === true

/** The first field that an instance of a class is given. */
const isFirstField = (node) => {
  const isField = (one) => ts.isPropertyDeclaration(one) && one.initializer !== undefined && !isStatic(one)
  return isField(node) && node.parent.members.find(isField) === node
}

/**
 * The text with the recorder in every function, and these functions: `name`, `line`, `lines` from its first to its last, and
 * `outer`, the index of the function around it. `first` is the number of the first one.
 */
export const instrument = (text, first = 0) => {
  const source = ts.createSourceFile("module.ts", text, ts.ScriptTarget.Latest, true)
  const functions = []
  const insertions = []
  const lineAt = (position) => source.getLineAndCharacterOfPosition(position).line + 1
  const add = (node, name, body, outer) => {
    const index = first + functions.length
    const line = lineAt(node.getStart(source))
    functions.push({ name, line, lines: lineAt(node.end) - line + 1, outer })
    if (ts.isBlock(body)) insertions.push([body.getStart(source) + 1, `__enter(${index});`])
    else insertions.push([body.getStart(source), `(__enter(${index}), `], [body.end, ")"])
    return index
  }
  const visit = (outer) => (node) => {
    let inner = outer
    if (ts.isFunctionLike(node) && node.body !== undefined) inner = add(node, nameOf(node), node.body, outer)
    else if (isFirstField(node)) inner = add(node, `fields of ${nameOf(node.parent)}`, node.initializer, outer)
    ts.forEachChild(node, visit(inner))
  }
  visit(undefined)(source)
  let result = ""
  let from = 0
  // Two insertions at one place keep their order: what is inside ends before what is around it.
  for (const [at, inserted] of insertions.sort(([a], [b]) => a - b)) {
    result += text.slice(from, at) + inserted
    from = at
  }
  return { text: result + text.slice(from), functions }
}

/** `server/legacy/Post` of `packages/core/src/server/legacy/Post.ts`; nothing for what is not a module of a package. */
const moduleOf = (path) => {
  const [, name, module] = /\/packages\/([a-z]+)\/src\/([\w/]+)\.ts$/.exec(path.replaceAll("\\", "/")) ?? []
  return name === undefined ? undefined : idOf(name, module)
}

/** The walks of the subjects and all functions of their modules. Private packages are not ours to count. */
export const follow = async (entry = join(root, subjects)) => {
  const all = []
  const ours = {
    name: "ours",
    setup: (bundle) =>
      bundle.onLoad({ filter: /\/packages\/[a-z]+\/src\/.*\.ts$/ }, ({ path }) => {
        const module = moduleOf(path)
        if (module === undefined || module.startsWith("benchmarks/")) return undefined
        const { functions, text } = instrument(readFileSync(path, "utf8"), all.length)
        for (const one of functions) all.push({ ...one, module })
        return { contents: text, loader: "ts" }
      })
  }
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    format: "esm",
    platform: "node",
    conditions: ["@effect-mcp/source"],
    logLevel: "error",
    banner: {
      js:
        "import { createRequire as createRequireOf } from \"node:module\"; const require = createRequireOf(import.meta.url);"
    },
    plugins: [ours]
  })
  const temporary = mkdtempSync(join(tmpdir(), "walk-"))
  try {
    const path = join(temporary, "walks.mjs")
    writeFileSync(path, outputFiles[0].text)
    return await record(path, all)
  } finally {
    rmSync(temporary, { recursive: true, force: true })
  }
}

const record = async (path, all) => {
  let trace = []
  globalThis.__enter = (index) => trace.push(index)
  const { walks } = await import(pathToFileURL(path).href)
  const found = {}
  for (const [name, begin] of Object.entries(walks)) {
    const call = await begin()
    for (let id = 1; id <= WARM_UP; id++) await call(id)
    const traces = []
    for (let id = WARM_UP + 1; id <= WARM_UP + REPETITIONS; id++) {
      await setTimeout(REST)
      trace = []
      await call(id)
      await setTimeout(REST)
      traces.push(trace)
    }
    const isAlways = (index) => traces.every((one) => one.includes(index))
    const entered = traces[0].filter(isAlways)
    const functions = [...new Set(entered)].map((index) => all[index])
    found[name] = { trace: entered.map((index) => all[index].module), functions, longest: longest(entered, all) }
  }
  return found
}

/** The longest function that runs, or that is around one that runs. */
const longest = (entered, all) => {
  let found = { lines: 0 }
  for (const index of new Set(entered)) {
    for (let at = index; at !== undefined; at = all[at].outer) if (all[at].lines > found.lines) found = all[at]
  }
  return found
}

/** The modules of the second column of each table of a page that has a walk: name, line, and whether it is entered. */
const tablesOf = (text) => {
  const tables = []
  let table
  text.split("\n").forEach((line, index) => {
    const walk = /^<!-- walk: (.+) -->$/.exec(line)?.[1]
    if (walk !== undefined) tables.push(table = { walk, line: index + 1, mentions: [] })
    else if (table !== undefined && line.startsWith("|")) {
      const cell = line.split("|")[2]
      for (const { 0: found, index: at } of cell.matchAll(/`[a-z]+\/[\w/]+`/g)) {
        const count = (mark) => cell.slice(0, at).split(mark).length
        table.mentions.push({ module: found.slice(1, -1), line: index + 1, entered: count("(") === count(")") })
      }
    } else if (line !== "") table = undefined
  })
  return tables
}

/** What the tables of a page say that is not so. */
export const falsehoods = (text, walks) => {
  const problems = []
  const report = (line, what) => problems.push(`${page}:${line}: ${what}`)
  const tables = tablesOf(text)
  for (const walk of Object.keys(walks)) {
    if (!tables.some((table) => table.walk === walk)) report(1, `add a table after <!-- walk: ${walk} -->`)
  }
  for (const { line, mentions, walk } of tables) {
    const trace = walks[walk]?.trace
    if (trace === undefined) report(line, `there is no walk "${walk}"; there are ${Object.keys(walks).join("; ")}`)
    else if (mentions.length === 0) report(line, `no table with modules follows`)
    else {
      let at = -1
      for (const { entered, line, module } of mentions) {
        const next = trace.indexOf(module, at + 1)
        const isEntered = trace.includes(module)
        if (!entered && isEntered) report(line, `${module} is entered by "${walk}": remove the parentheses`)
        else if (entered && !isEntered) {
          report(line, `${module} is not entered by "${walk}": remove it, or put it into parentheses`)
        } else if (entered && next === -1) {
          report(line, `${module} is not entered by "${walk}" after ${trace[at]}: name it before`)
        } else if (entered) at = next
      }
    }
  }
  return problems
}

/** The modules that a page names and the workspace does not have. */
export const unknown = (text, { packages }) => {
  const names = packages.flatMap(({ name }) => areas[name] ?? [name]).join("|")
  const known = new Set(packages.flatMap(({ modules, name }) => modules.map(({ module }) => idOf(name, module))))
  return [...new Set(text.match(new RegExp(`(?<=\`)(${names})/[\\w/]*[A-Z]\\w*(?=\`)`, "g")))]
    .filter((module) => !known.has(module)).map((module) => `${page}: there is no module ${module}`)
}

/** How much a reader of a walk meets. */
const figuresOf = ({ functions, longest }) =>
  `${new Set(functions.map(({ module }) => module)).size} modules, ${functions.length} functions, ` +
  `the longest at ${longest.module}:${longest.line} with ${longest.lines} lines`

const listOf = (name, { functions }) => {
  const lines = [`${name}:`]
  functions.forEach(({ line, module, name }, index) => {
    if (module !== functions[index - 1]?.module) lines.push(`  ${module}`)
    lines.push(`    ${name}:${line}`)
  })
  return lines
}

const main = async () => {
  const walks = await follow()
  const text = readFileSync(join(root, page), "utf8")
  for (const [name, walk] of Object.entries(walks)) {
    if (!process.argv.includes("--check")) console.log(listOf(name, walk).join("\n"))
    console.log(`${name}: ${figuresOf(walk)}`)
  }
  const problems = [...falsehoods(text, walks), ...unknown(text, readWorkspace())]
  for (const problem of problems) console.log(problem)
  // The servers of the walks still listen.
  process.exit(problems.length > 0 ? 1 : 0)
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) await main()
