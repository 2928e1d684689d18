// Writes what is published to build/release, where `npm run release` and packages.mjs take it from: a copy of every library whose
// JavaScript is flat. A start reads five or six files of ours instead of two hundred, and most of what a file costs is to open
// it. The declarations stay as the compiler writes them. Needs a build (`npm run build`).
//
// - All libraries are one program for Rollup. A module belongs to the chunk of the modules that the same PROGRAMS load, so that no
//   program loads what only others need, and chunks form no circle. A module that no program loads stands in the chunks that
//   Rollup makes by itself. A public module is a file that names the exports of its chunk.
// - Where a chunk imports a chunk of another package, the import names `…/unstable/chunks/…` of that package, whose version is the same.
// - Each call at the top of a module gets the mark PURE, as in Effect's own packages: a bundler then leaves out what is not used. That
//   no module has another effect when it is loaded is checked here, because `sideEffects` of the manifests promises it.
import { transform } from "esbuild"
import MagicString from "magic-string"
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { dirname, join, posix, relative, sep } from "node:path"
import { pathToFileURL } from "node:url"
import { rollup } from "rollup"
import { areas, commands, readWorkspace, root, scope } from "./workspace.mjs"

/** What ordinary programs import. Two modules that the same programs load stand in the same chunk of their package. */
const PROGRAMS = {
  "stdio-server": [
    "core/Tool",
    "core/Resource",
    "core/Prompt",
    "core/McpServer",
    "node/StdioServer"
  ],
  "http-server": ["core/Tool", "core/McpServer", "node/HttpServer"],
  "stdio-client": ["core/Client", "node/StdioClient"],
  "http-client": ["core/Client", "core/Remote"]
}

/** A chunk with fewer characters is part of one that every program of its package loads: a file would cost more. */
const SMALL = 12_000

export const release = "build/release"

/** Where the chunks of a package are, in its `dist` and among its exports. */
const CHUNKS = "chunks"

const own = /^@effect-mcp\/([^/]+)\/(.+)$/

/** Whether bundlers see by themselves that an expression can go, when they take each call with plain arguments for pure. */
const isPlain = (node, namespaces) => {
  const all = (nodes) => nodes.every((one) => one === null || isPlain(one, namespaces))
  switch (node.type) {
    case "ArrowFunctionExpression":
    case "ClassExpression":
    case "FunctionExpression":
    case "Identifier":
    case "Literal":
      return true
    case "ArrayExpression":
      return all(node.elements)
    case "CallExpression":
    case "NewExpression":
      return all(node.arguments)
    case "MemberExpression":
      return !node.computed && node.object.type === "Identifier" && namespaces.has(node.object.name)
    case "ObjectExpression":
      return node.properties.every((one) => one.type === "Property" && !one.computed && isPlain(one.value, namespaces))
    case "TemplateLiteral":
      return node.expressions.length === 0
    case "UnaryExpression":
      return node.argument.type === "Literal"
    default:
      return false
  }
}

/** What a module computes when it is loaded: the expressions, and the calls in them. Fails when it does more than declare. */
const computed = ({ body }, id) => {
  const expressions = []
  const calls = []
  const visit = (node) => {
    if (node === null || typeof node !== "object") return
    if (Array.isArray(node)) return node.forEach(visit)
    if (/Function/.test(node.type) || node.type === "MethodDefinition") return
    if (node.type === "PropertyDefinition") {
      if (node.static) expressions.push(node.value)
      return node.static && visit(node.value)
    }
    if (node.type === "ClassDeclaration") expressions.push(node.superClass)
    if (node.type === "VariableDeclarator") expressions.push(node.init)
    if (node.type === "CallExpression" || node.type === "NewExpression") calls.push(node)
    Object.values(node).forEach(visit)
  }
  for (const statement of body) {
    visit(statement)
    if (!/^(Import|Export|Variable|Function|Class)/.test(statement.type)) {
      throw new Error(`${id} does more than declare when it is loaded: ${statement.type}`)
    }
  }
  return { expressions: expressions.filter((one) => one !== null), calls }
}

/** Marks what modules compute as pure, and keeps their source maps. */
const pure = {
  name: "pure",
  load: (id) => ({
    code: readFileSync(id, "utf8").replace(/\n\/\/# sourceMappingURL=.*\s*$/, "\n"),
    map: JSON.parse(readFileSync(`${id}.map`, "utf8"))
  }),
  transform(code, id) {
    const program = this.parse(code)
    const { calls, expressions } = computed(program, id)
    const namespaces = new Set(
      program.body.flatMap(({ specifiers = [] }) => specifiers).filter(({ type }) =>
        type === "ImportNamespaceSpecifier"
      )
        .map(({ local }) => local.name)
    )
    const text = new MagicString(code)
    for (const { end, start } of expressions.filter((one) => !isPlain(one, namespaces))) {
      text.appendLeft(start, "/*#__PURE__*/(() => (").appendRight(end, "))()")
    }
    for (const { start } of calls) text.appendLeft(start, "/*#__PURE__*/")
    return { code: text.toString(), map: text.generateMap({ hires: true }) }
  }
}

const distOf = (name) => `packages/${name}/dist`

/** The libraries, and by entry (`server/McpServer`) the compiled file and the import path of each module that is exported. */
const layout = () => {
  const libraries = readWorkspace(root).packages.filter(({ library }) => library)
  const entries = new Map()
  for (const { manifest, name } of libraries) {
    for (const [path, target] of Object.entries(manifest.exports)) {
      if (path === "." || typeof target === "string") continue
      const module = `${name}/${path.slice("./".length)}`
      entries.set(module, { file: posix.join("packages", name, target.import), path: scope + module })
    }
  }
  return { entries, libraries }
}

/** Resolves our own imports to compiled files, and leaves all others. */
const resolution = (entries) => ({
  name: "resolution",
  resolveId(source, importer) {
    if (source.startsWith("/")) return source
    // JSON stands beside the module that loads it.
    if (source.endsWith(".json")) return { id: source, external: true }
    if (source.startsWith(".")) return join(dirname(importer), source)
    const match = own.exec(source)
    const entry = match === null ? undefined : entries.get(`${match[1]}/${match[2]}`)
    return entry === undefined ? { id: source, external: true, moduleSideEffects: false } : join(root, entry.file)
  }
})

/** The name of a chunk, as stack traces show it: the programs that load the chunk, or what they have in common. */
const chunkName = (programs) => {
  const ends = [[".*", "all"], [".*-server", "servers"], [".*-client", "clients"], ["stdio-.*", "stdio"], [
    "http-.*",
    "http"
  ]]
  const all = ends.find(([pattern]) =>
    Object.keys(PROGRAMS).every((one) => programs.includes(one) === new RegExp(`^${pattern}$`).test(one))
  )
  return all?.[1] ?? programs.join(".")
}

/** The area of a compiled module: `server` of `packages/core/dist/server/McpServer.js`. */
const areaOf = (id) => relative(join(root, "packages"), id).split(sep)[2]

const packageOf = (id) => relative(join(root, "packages"), id).split(sep)[0]

/** The chunk of each module that a program loads, among modules that know their imports, those of other authors included. */
const chunksOf = (entries, modules) => {
  const closure = (ids, seen = new Set()) => {
    for (const id of ids) {
      if (seen.has(id)) continue
      seen.add(id)
      closure(modules.get(id)?.imports ?? [], seen)
    }
    return seen
  }
  const loaded = new Map(
    Object.entries(PROGRAMS).map((
      [program, ids]
    ) => [program, closure(ids.map((id) => join(root, entries.get(id).file)))])
  )
  for (const [program, all] of loaded) {
    const other = program.endsWith("server") ? "client" : "server"
    const stray = [...all].find((id) => modules.has(id) && packageOf(id) in areas && areaOf(id) === other)
    if (stray !== undefined) throw new Error(`A program of PROGRAMS, ${program}, loads the other side: ${stray}`)
  }
  const nameOf = (id) => {
    const programs = [...loaded].filter(([, all]) => all.has(id)).map(([program]) => program)
    return programs.length === 0 ? undefined : `${distOf(packageOf(id))}/${CHUNKS}/${chunkName(programs)}`
  }
  const names = new Map([...modules.keys()].map((id) => [id, nameOf(id)]))
  const sizes = new Map()
  for (const [id, name] of names) sizes.set(name, (sizes.get(name) ?? 0) + modules.get(id).size)
  const isSmall = (id, pkg) => modules.has(id) && packageOf(id) === pkg && sizes.get(names.get(id)) < SMALL
  for (const all of loaded.values()) {
    for (const pkg of new Set([...all].filter((id) => modules.has(id)).map(packageOf))) {
      for (const id of modules.keys()) {
        if (!isSmall(id, pkg)) continue
        const needs = [...closure([id])]
        if (needs.every((one) => all.has(one) || isSmall(one, pkg))) needs.forEach((one) => all.add(one))
      }
    }
  }
  return nameOf
}

/**
 * Leaves out comments, which stand in the declarations, and imports for their effects, which no module has; and writes ASCII, which
 * V8 keeps in half the memory.
 */
const plain = {
  name: "plain",
  renderChunk: (code) =>
    transform(code.replace(/^import '[^']+';$/gm, ""), {
      charset: "ascii",
      sourcemap: "external",
      sourcesContent: false
    })
}

/** Names chunks of other packages by the paths that these packages export, in place of relative paths. */
const crossPackages = (entries, libraries) => {
  const paths = new Map([...entries.values()].map(({ file, path }) => [file, path]))
  const needs = new Map(libraries.map(({ manifest, name }) => [
    name,
    Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies })
  ]))
  return {
    name: "cross-packages",
    generateBundle(_, bundle) {
      for (const chunk of Object.values(bundle).filter(({ type }) => type === "chunk")) {
        const own = chunk.fileName.split("/")[1]
        for (const file of [...chunk.imports, ...chunk.dynamicImports].filter((file) => file in bundle)) {
          const [, name, , ...rest] = file.split("/")
          if (name === own) continue
          if (!needs.get(own).includes(scope + name)) {
            this.error(`${own} imports ${file}, and does not depend on ${name}`)
          }
          const from = posix.relative(posix.dirname(chunk.fileName), file)
          const to = paths.get(file) ?? `${scope}${name}/unstable/${rest.join("/").replace(/\.js$/, "")}`
          chunk.code = chunk.code.replaceAll(`"${from}"`, `"${to}"`)
        }
      }
    }
  }
}

const flatten = async ({ entries, libraries }, to) => {
  const build = await rollup({
    input: Object.fromEntries([...entries.values()].map(({ file }) => [file.replace(/\.js$/, ""), join(root, file)])),
    plugins: [resolution(entries), pure],
    treeshake: { moduleSideEffects: false },
    onwarn: ({ code, message }) => {
      // A module of types only.
      if (code !== "EMPTY_BUNDLE") throw new Error(message)
    }
  })
  const modules = new Map(
    build.cache.modules.map(({ code, dependencies, id }) => [id, { imports: dependencies, size: code.length }])
  )
  const { output } = await build.write({
    dir: to,
    format: "es",
    sourcemap: true,
    sourcemapPathTransform: (source, map) =>
      relative(dirname(relative(to, map)), relative(root, join(dirname(map), source))).split(sep).join("/"),
    hoistTransitiveImports: false,
    minifyInternalExports: false,
    generatedCode: "es2015",
    importAttributesKey: "with",
    entryFileNames: "[name].js",
    chunkFileNames: ({ moduleIds, name }) =>
      name.startsWith("packages/") ? "[name].js" : `${distOf(packageOf(moduleIds[0]))}/${CHUNKS}/[name].js`,
    manualChunks: chunksOf(entries, modules),
    onlyExplicitManualChunks: true,
    plugins: [plain, crossPackages(entries, libraries)]
  })
  await build.close()
  return output.filter(({ type }) => type === "chunk")
}

/** Which files of a package are copied: all but tests and what the compiler and Rollup write. */
const isCopied = (path) => !/^(node_modules|build|test)(\/|$)|^tsconfig|^dist\/.*\.js(\.map)?$/.test(path)

/** Writes all packages, and says what was written. */
export const writeRelease = async () => {
  const { entries, libraries } = layout()
  const to = join(root, release)
  rmSync(to, { recursive: true, force: true })
  const files = await flatten({ entries, libraries }, to)
  mkdirSync(join(to, "node_modules", scope), { recursive: true })
  for (const { manifest, name, path } of libraries) {
    const from = join(root, path)
    cpSync(from, join(to, path), {
      recursive: true,
      filter: (file) => isCopied(relative(from, file).split(sep).join("/"))
    })
    if (existsSync(join(from, "dist/index.js"))) cpSync(join(from, "dist/index.js"), join(to, path, "dist/index.js"))
    const chunks = files.some(({ fileName }) => fileName.startsWith(`${path}/dist/${CHUNKS}/`))
      ? { [`./unstable/${CHUNKS}/*`]: `./dist/${CHUNKS}/*.js` }
      : {}
    const exports = { ...manifest.exports, ...chunks }
    writeFileSync(join(to, path, "package.json"), `${JSON.stringify({ ...manifest, exports }, null, 2)}\n`)
    symlinkSync(join("../..", path), join(to, "node_modules", scope, name))
    // Where npm has put a dependency of one package only.
    if (existsSync(join(from, "node_modules"))) symlinkSync(join(from, "node_modules"), join(to, path, "node_modules"))
  }
  // Programs are bundles of the sources.
  for (const { files, manifest, name, path } of readWorkspace(root).packages) {
    if (!commands.includes(name)) continue
    const from = join(root, path)
    if (files.includes("bundle.mjs")) await import(pathToFileURL(join(from, "bundle.mjs")).href)
    cpSync(from, join(to, path), {
      recursive: true,
      filter: (file) => isCopied(relative(from, file).split(sep).join("/"))
    })
    const { devDependencies: _, scripts: __, ...published } = manifest
    writeFileSync(join(to, path, "package.json"), `${JSON.stringify(published, null, 2)}\n`)
  }
  // What `changeset publish` reads.
  writeFileSync(
    join(to, "package.json"),
    JSON.stringify({ name: "release", private: true, type: "module", workspaces: ["packages/*"] })
  )
  cpSync(join(root, ".changeset/config.json"), join(to, ".changeset/config.json"))
  return `${entries.size} entries in ${files.length} files in ${release}`
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) console.log(await writeRelease())
