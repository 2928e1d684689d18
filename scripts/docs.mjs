// Compiles every ```ts block of README.md, docs/ and the packages' READMEs, and of the JSDoc of packages/*/src, under
// the options of the examples. A block stands alone, as a module; one that begins with `// file: name.ts` can be
// imported as "./name.js" by the others of its document. ```ts no-check is counted and listed, not compiled.
//
// Blocks are written below packages/examples/build/docs, each on the lines that it has in its document, so that the
// compiler's lines are the document's. A value that is not used is not an error there; an import that is not used is.
//
// Checks the pages, too: see docs.pages.mjs.
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join, relative, sep } from "node:path"
import { pathToFileURL } from "node:url"
import ts from "typescript"
import { pages } from "./docs.pages.mjs"
import { filesUnder, root } from "./workspace.mjs"

const home = "packages/examples"
const built = `${home}/build/docs`

/** The lines of a Markdown document: text, line from 1, and how many columns were cut off before the text. */
const linesOf = (text) => text.split("\n").map((line, index) => ({ text: line, line: index + 1, cut: 0 }))

/** The comments of a source file, each as a document of its own. */
const commentsOf = (text) => {
  const comments = []
  let current
  for (const one of linesOf(text)) {
    if (current === undefined && /^\s*\/\*\*/.test(one.text) && !one.text.includes("*/")) {
      current = []
    } else if (current !== undefined) {
      if (one.text.includes("*/")) {
        comments.push(current)
        current = undefined
      } else {
        const cut = /^\s*(\* ?)?/.exec(one.text)[0].length
        current.push({ ...one, text: one.text.slice(cut), cut })
      }
    }
  }
  return comments
}

const opening = /^(\s*)(`{3,}|~{3,})\s*([^\s`]*)\s*([^`]*)$/

/** The ts blocks of a document: where the code begins, its lines, and what the fence says after `ts`. */
const blocksOf = (lines) => {
  const blocks = []
  let fence
  for (const { cut, line, text } of lines) {
    if (fence === undefined) {
      const match = opening.exec(text)
      if (match === null) continue
      const [, indent, marks, language, info] = match
      fence = { line, indent: indent.length, marks, language, info: info.trim(), code: [] }
    } else if (text.trim().startsWith(fence.marks) && new RegExp(`^${fence.marks[0]}+$`).test(text.trim())) {
      blocks.push(fence)
      fence = undefined
    } else {
      const inner = Math.min(fence.indent, /^\s*/.exec(text)[0].length)
      fence.code.push({ line, text: text.slice(inner), cut: cut + inner })
    }
  }
  if (fence !== undefined) blocks.push({ ...fence, unclosed: true })
  return blocks.filter(({ language }) => language === "ts" || language === "typescript")
}

/** Every document with a ts block in it: its path and its blocks. */
export const documents = (at = root) => {
  const read = (path) => readFileSync(join(at, path), "utf8")
  const markdown = ["README.md", ...filesUnder(at, "docs", (name) => name.endsWith(".md"))]
    .concat(filesUnder(at, "packages", (name) => name === "README.md"))
    .filter((path) => existsSync(join(at, path)))
    .map((path) => ({ path, blocks: blocksOf(linesOf(read(path))) }))
  const sources = filesUnder(at, "packages", (name) => name.endsWith(".ts"))
    .filter((path) => path.split("/")[2] === "src")
    .map((path) => ({ path, blocks: commentsOf(read(path)).flatMap(blocksOf) }))
  return [...markdown, ...sources].filter(({ blocks }) => blocks.length > 0)
}

/** Where each block goes, and what is wrong with how it is written. */
const plan = (found) => {
  const modules = []
  const unchecked = []
  const errors = []
  for (const { blocks, path } of found) {
    const taken = new Set()
    blocks.forEach((block, index) => {
      const { code, info, line } = block
      const fail = (what) => errors.push({ path, line, column: 1, what })
      if (block.unclosed) return fail("the code block is never closed")
      if (info === "no-check") return unchecked.push({ path, line })
      if (info !== "") return fail(`"ts ${info}" means nothing: write "ts" or "ts no-check"`)
      const named = /^\/\/ file: (.*)$/.exec(code[0]?.text ?? "")?.[1].trim()
      const name = named ?? `block-${index + 1}.ts`
      if (!/^(?!\.)[\w.-]+\.ts$/.test(name)) return fail(`"${name}" is not a file name: write "// file: name.ts"`)
      if (taken.has(name)) return fail(`this document has two blocks named ${name}`)
      taken.add(name)
      modules.push({ path, name, code })
    })
  }
  return { modules, unchecked, errors }
}

/** Changes only files that differ, each in one step: other scripts may read the files at the same time. */
const write = (at, modules) => {
  const folder = join(at, built)
  const files = modules.map((module) => {
    const file = join(folder, module.path, module.name)
    const lines = []
    for (const { line, text } of module.code) lines[line - 1] = text
    const text = `${Array.from(lines, (line) => line ?? "").join("\n")}\n`
    if (!existsSync(file) || readFileSync(file, "utf8") !== text) {
      const next = join(at, `${built}.${process.pid}`)
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(next, text)
      renameSync(next, file)
    }
    return { ...module, file }
  })
  const kept = new Set(files.map(({ file }) => file))
  for (const path of filesUnder(folder, ".", () => true)) {
    if (!kept.has(join(folder, path))) rmSync(join(folder, path))
  }
  return files
}

const optionsOf = (at) => {
  const path = join(at, home, "tsconfig.src.json")
  const { config, error } = ts.readConfigFile(path, ts.sys.readFile)
  if (error !== undefined) throw new Error(ts.flattenDiagnosticMessageText(error.messageText, "\n"))
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, dirname(path), undefined, path)
  return {
    ...options,
    composite: false,
    incremental: false,
    declaration: false,
    declarationMap: false,
    sourceMap: false,
    noEmit: true,
    rootDir: undefined,
    outDir: undefined,
    tsBuildInfoFile: undefined
  }
}

const unused = new Set([6133, 6192, 6196, 6198, 6199, 6205])

const insideImport = (source, position) =>
  source.statements.some((node) => ts.isImportDeclaration(node) && node.pos <= position && position < node.end)

const compile = (at, modules) => {
  const program = ts.createProgram({ rootNames: modules.map(({ file }) => file), options: optionsOf(at) })
  const say = ({ code, messageText }) => `TS${code}: ${ts.flattenDiagnosticMessageText(messageText, "\n  ")}`
  const general = [...program.getOptionsDiagnostics(), ...program.getGlobalDiagnostics()]
    .map((one) => ({ path: `${home}/tsconfig.src.json`, line: 1, column: 1, what: say(one) }))
  const errors = modules.flatMap(({ code, file, path }) => {
    const source = program.getSourceFile(file)
    return [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)]
      .filter(({ code, start }) => !unused.has(code) || insideImport(source, start))
      .map((one) => {
        const { character, line } = source.getLineAndCharacterOfPosition(one.start ?? 0)
        const cut = code.find((text) => text.line === line + 1)?.cut ?? 0
        return { path, line: line + 1, column: character + cut + 1, what: say(one) }
      })
  })
  return [...general, ...errors]
}

/** Writes the blocks of all documents, and gives them with their files. */
export const modulesOf = (at = root) => write(at, plan(documents(at)).modules)

/** Checks all documents: what was compiled, what was left out, what is wrong. */
export const docs = (at = root) => {
  const { errors, modules, unchecked } = plan(documents(at))
  if (!existsSync(join(at, "README.md"))) errors.push({ path: "README.md", line: 1, column: 1, what: "missing" })
  const files = write(at, modules)
  const compiled = files.length === 0 ? [] : compile(at, files)
  return { checked: modules, unchecked, errors: [...errors, ...pages(at), ...compiled] }
}

const main = () => {
  const { checked, errors, unchecked } = docs()
  for (const { column, line, path, what } of errors) console.log(`${path}:${line}:${column}: ${what}`)
  for (const { line, path } of unchecked) console.log(`${path}:${line}: not checked`)
  const count = new Set(checked.map(({ path }) => path)).size
  const where = relative(root, join(root, built)).split(sep).join("/")
  console.log(`${checked.length} blocks of ${count} documents compiled in ${where}, ${unchecked.length} not checked`)
  if (errors.length > 0) {
    console.log(`${errors.length} errors`)
    process.exitCode = 1
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) main()
