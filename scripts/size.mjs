// Counts what the code costs to carry, and compares it with budgets.json: who adds to a figure takes as much away elsewhere.
//
// - Lines of code are lines that are neither blank nor part of a comment; `@category` and `@since` stand in comments.
// - Each module but a barrel is a concept that a reader must learn, whatever its length.
// - A small hidden module has at most 60 lines and one importing module, in any package. Barrels import nothing.
// - Home-made parts for concurrency are the modules of HOMEMADE and every module of jsonrpc/src/kit. No rule finds a new one
//   elsewhere: its author adds it to the list.
// - A file names an inner part of Effect in an import or as an identifier; members of Effect's that begin with `unsafe` are
//   those in its declarations, but for names that our own modules declare.
// - Options are the members of exported interfaces `…Options` of public modules of the core, and in place of a member
//   `limits` the members of its type. The compiler says which member an object literal sets. One that only its own package
//   or a test sets is not set; a limit (`max…`, or a member of `limits`) is set when a test has a member of its name.
//
// Everything is counted in the `src` of libraries, but for the lines of the command line; `--list` names what is counted. The lines of the longest function on a walk are counted by walk.mjs.
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join, posix } from "node:path"
import { pathToFileURL } from "node:url"
import ts from "typescript"
import { budgetsOf, compare } from "./budgets.mjs"
import { isPublic } from "./codegen.mjs"
import { modulesOf } from "./docs.mjs"
import { readWorkspace, root, scope } from "./workspace.mjs"

const CORE = ["jsonrpc", "protocol", "definition", "server", "client", "node"]
const KIT = "jsonrpc/kit/"
const MAX_SMALL = 60
const MODULES = "modules of all published packages, each a concept"

/** Parts that wait, wake, queue, limit or time by themselves, where Effect or the kit has such a part. */
const HOMEMADE = [
  "jsonrpc/runtime/Calls"
]

const INNER = ["Runtime", "FiberRef", "FiberId", "RuntimeFlags", "ExecutionStrategy"]
const SCHEMA_TREE = ["SchemaAST", "ParseResult"]

const isBarrel = ({ module }) => module === "index"

const codeOf = (text) => text.split("\n").filter((line) => !/^\s*($|\/\*|\*|\/\/)/.test(line))

const sum = (numbers) => numbers.reduce((total, one) => total + one, 0)

/** The module that an import names, such as `server/legacy/Post`; nothing when it is none of ours. */
const imported = (specifier, from, packages) => {
  if (specifier.startsWith(".")) return posix.join(posix.dirname(from), specifier).replace(/\.js$/, "")
  if (!specifier.startsWith(scope)) return undefined
  const [name, ...rest] = specifier.slice(scope.length).split("/")
  const source = packages.find((pkg) => pkg.name === name)?.manifest?.exports?.[`./${rest.join("/")}`]
  return source?.["@effect-mcp/source"]?.replace("./src", name).replace(/\.ts$/, "")
}

/** The small hidden modules with one user. */
const small = (libraries, packages) => {
  const users = new Map()
  for (const pkg of packages) {
    for (const file of pkg.modules.filter((file) => !isBarrel(file))) {
      const from = `${pkg.name}/${file.module}`
      for (const { fileName } of ts.preProcessFile(file.text, true, false).importedFiles) {
        const module = imported(fileName, from, packages)
        users.set(module, (users.get(module) ?? new Set()).add(from))
      }
    }
  }
  return libraries.flatMap((pkg) =>
    pkg.modules.filter((file) =>
      !isBarrel(file) && !isPublic(pkg, file.module) && users.get(`${pkg.name}/${file.module}`)?.size === 1 &&
      file.text.trimEnd().split("\n").length <= MAX_SMALL
    ).map(({ path }) => path)
  )
}

/** The members of Effect that begin with `unsafe`, but for names that our modules declare. */
const unsafeMembers = (at, files) => {
  const declarations = join(at, "node_modules/effect/dist/dts")
  if (!existsSync(declarations)) return []
  const effects = readdirSync(declarations).filter((name) => name.endsWith(".d.ts"))
    .flatMap((name) => readFileSync(join(declarations, name), "utf8").match(/\bunsafe[A-Z]\w*/g) ?? [])
  const declared =
    /^ *(?:export )?(?:(?:private|readonly|const|override) )*(unsafe[A-Z]\w*)\b(?:<.*>)?(?:\(.*\{$|\(.*\): \w+$| =|: )/gm
  const ours = new Set(files.flatMap(({ text }) => [...text.matchAll(declared)].map(([, name]) => name)))
  return [...new Set(effects)].filter((name) => !ours.has(name))
}

const naming = (files, names) => {
  const pattern = new RegExp(`\\b(${names.join("|")})\\b`)
  return files.filter(({ text }) => codeOf(text).some((line) => pattern.test(line))).map(({ path }) => path)
}

const programOf = (at, { packages }, documents) => {
  const path = join(at, "tsconfig.base.json")
  const { config = {} } = existsSync(path) ? ts.readConfigFile(path, ts.sys.readFile) : {}
  const { options } = ts.parseJsonConfigFileContent({ ...config, files: [] }, ts.sys, at)
  const rootNames = [...packages.flatMap(({ modules }) => modules.map(({ path }) => join(at, path))), ...documents]
  return ts.createProgram({ rootNames, options: { ...options, composite: false, incremental: false, noEmit: true } })
}

/** The options of the core, by declaration: `pkg`, `path` and `name`, and whether it is a limit. */
const optionsOf = (at, libraries, program) => {
  const options = new Map()
  const checker = program.getTypeChecker()
  const add = (pkg, path, declaration, isMember) => {
    const name = declaration.name.getText()
    const type = name === "limits" ? checker.getNonNullableType(checker.getTypeAtLocation(declaration)) : undefined
    for (const { declarations = [] } of type?.getProperties() ?? []) {
      for (const limit of declarations.slice(0, 1)) add(pkg, path, limit, true)
    }
    const isLimit = isMember || /^max($|[A-Z])/.test(name)
    if (type === undefined) options.set(declaration, { pkg: pkg.name, path, name, isLimit })
  }
  for (const pkg of libraries.filter(({ name }) => CORE.includes(name))) {
    for (const { path } of pkg.modules.filter(({ module }) => isPublic(pkg, module))) {
      for (const node of program.getSourceFile(join(at, path)).statements) {
        if (!ts.isInterfaceDeclaration(node) || !node.name.text.endsWith("Options")) continue
        for (const member of node.members) if (member.name !== undefined) add(pkg, path, member, false)
      }
    }
  }
  return options
}

/** Takes away the options that an object literal of another package sets. */
const takeSet = (options, program, packageOf) => {
  const checker = program.getTypeChecker()
  for (const source of program.getSourceFiles()) {
    const from = packageOf(source.fileName)
    if (from === undefined || source.isDeclarationFile) continue
    const names = new Set([...options.values()].filter(({ pkg }) => pkg !== from).map(({ name }) => name))
    const visit = (node) => {
      ts.forEachChild(node, visit)
      if (!ts.isObjectLiteralExpression(node)) return
      const set = node.properties.flatMap(({ name }) => name !== undefined && names.has(name.text) ? [name.text] : [])
      const type = set.length === 0 ? undefined : checker.getContextualType(node)
      for (const one of type?.isUnion() === true ? type.types : [type]) {
        for (const name of one === undefined ? [] : set) {
          for (const declaration of checker.getPropertyOfType(one, name)?.declarations ?? []) {
            if (options.get(declaration)?.pkg !== from) options.delete(declaration)
          }
        }
      }
    }
    visit(source)
  }
}

const sessionMembers = (at, program) => {
  const source = program.getSourceFile(join(at, "packages/server/src/ServerSession.ts"))
  const service = source?.statements.find((one) =>
    ts.isInterfaceDeclaration(one) && one.name.text === "ServerSessionService"
  )
  if (service === undefined) return []
  return program.getTypeChecker().getTypeAtLocation(service).getProperties().map(({ name }) => name)
}

/** Figures of the workspace at a folder, what some of them count, and what is wrong with the list of home-made parts. */
export const size = (at = root, homemade = HOMEMADE) => {
  const workspace = readWorkspace(at)
  const { packages } = workspace
  const libraries = packages.filter(({ library }) => library)
  const files = libraries.flatMap(({ modules }) => modules)
  const names = new Set(libraries.flatMap(({ modules, name }) => modules.map(({ module }) => `${name}/${module}`)))
  const lines = (of) => sum(of.flatMap(({ modules }) => modules.map(({ text }) => codeOf(text).length)))
  const documents = modulesOf(at).map(({ file }) => file)
  const program = programOf(at, workspace, documents)
  const options = optionsOf(at, libraries, program)
  takeSet(options, program, (file) => documents.includes(file) ? "docs" : /\/packages\/(\w+)\/src\//.exec(file)?.[1])
  const tested = new Set(packages.flatMap(({ tests }) => tests.flatMap(({ text }) => text.match(/\b\w+(?=:)/g) ?? [])))
  const unset = [...options.values()].filter(({ isLimit, name }) => !isLimit || !tested.has(name))
  const lists = {
    "small hidden modules with one user": small(libraries, packages),
    "home-made parts for concurrency": [...names].filter((name) => name.startsWith(KIT) || homemade.includes(name)),
    "files that name inner parts of Effect": naming(files, [...INNER, ...unsafeMembers(at, files)]),
    "files that read the tree of schemas": naming(files, SCHEMA_TREE),
    "members of the handler's session": sessionMembers(at, program),
    "options that nobody sets": unset.map(({ name, path }) => `${path}: ${name}`)
  }
  return {
    figures: {
      "lines of code of the core": lines(libraries.filter(({ name }) => CORE.includes(name))),
      "lines of code of all published packages": lines(libraries),
      "lines of code of the command line": lines(packages.filter(({ name }) => name === "cli")),
      [MODULES]: files.filter((file) => !isBarrel(file)).length,
      ...Object.fromEntries(Object.entries(lists).map(([what, list]) => [what, list.length]))
    },
    lists,
    problems: homemade.filter((module) => !names.has(module))
      .map((module) => `scripts/size.mjs: remove ${module} from HOMEMADE: it is gone`)
  }
}

const main = () => {
  const { figures, lists, problems } = size()
  const advice = (what) => lists[what] === undefined ? "delete as much" : "`npm run size -- --list` lists them"
  const compared = compare(figures, budgetsOf("size"), advice)
  if (process.argv.includes("--list")) {
    for (const [what, list] of Object.entries(lists)) console.log([`${what}:`, ...list].join("\n  "))
  }
  console.log([...compared.table, ...compared.notices, ...compared.problems, ...problems].join("\n"))
  if (compared.problems.length + problems.length > 0) process.exitCode = 1
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) main()
