// What the other scripts know about the repository: its packages, their modules and tests, and how a module opens. Reads
// files, judges nothing; a file that is not there yet is an empty answer.
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join, relative, sep } from "node:path"
import { fileURLToPath } from "node:url"
import ts from "typescript"

export const root = fileURLToPath(new URL("..", import.meta.url))

export const scope = "@effect-mcp/"

/** Private packages: compiled and run, never imported. */
export const programs = ["examples", "benchmarks", "attacks", "cluster"]

/** Published programs. Every other package is a library. */
export const commands = ["cli", "create"]

/** The areas of packages that have some, lowest first: each is a folder of `src` and of `test`. */
export const areas = {
  core: ["kit", "jsonrpc", "protocol", "definition", "server", "client"],
  extensions: ["skills", "apps"]
}

/** Areas whose `legacy/` and `modern/` are public, and whose modules have the area in their public name. All others hide theirs. */
export const publishesEras = ["protocol"]

/** Folders that are public, beside the top of `src`: what is for one platform. Their modules have the folder in their public name. */
export const platforms = { auth: ["node"] }

/** Areas without a public module. */
export const hiddenAreas = ["kit"]

export const eras = ["legacy", "modern"]

/** How reports and the documentation call a module: `server/legacy/Post`, `node/StdioServer`. */
export const idOf = (name, module) => areas[name] === undefined || module === "index" ? `${name}/${module}` : module

const skipped = new Set(["node_modules", "dist", "build", "coverage"])

/** Paths relative to `from`, with `/`, sorted; of everything below `folder` that `accept` takes. */
export const filesUnder = (from, folder, accept) => {
  const found = []
  const walk = (at) => {
    for (const entry of readdirSync(at, { withFileTypes: true })) {
      const path = join(at, entry.name)
      if (entry.isDirectory()) {
        if (!skipped.has(entry.name) && !entry.name.startsWith(".")) walk(path)
      } else if (accept(entry.name)) {
        found.push(relative(from, path).split(sep).join("/"))
      }
    }
  }
  const start = join(from, folder)
  if (existsSync(start)) walk(start)
  return found.sort()
}

/** Modules of the edition for Effect 4 that are written by hand: they stand beside the modules of this edition, which does not have them. */
export const BY_HAND = ".v4.ts"

const isTypeScript = (name) => name.endsWith(".ts") && !name.endsWith(".d.ts") && !name.endsWith(BY_HAND)

/** JSON that may have comments; `undefined` when it is not there, `broken` when it cannot be read. */
export const readJson = (path) => {
  if (!existsSync(path)) return undefined
  const { config, error } = ts.parseConfigFileTextToJson(path, readFileSync(path, "utf8"))
  return error === undefined ? config : { broken: ts.flattenDiagnosticMessageText(error.messageText, " ") }
}

/**
 * The packages of a workspace. `modules` and `tests` are its files: `path` from the root, `module` without `src/` or `test/`
 * and extension, `text`.
 */
export const readWorkspace = (at = root) => {
  const folder = join(at, "packages")
  const names = existsSync(folder)
    ? readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory()).map((entry) => entry.name)
      .sort()
    : []
  const files = (name, part) =>
    filesUnder(at, `packages/${name}/${part}`, isTypeScript).map((path) => ({
      path,
      module: path.slice(`packages/${name}/${part}/`.length, -".ts".length),
      text: readFileSync(join(at, path), "utf8")
    }))
  return {
    root: at,
    manifest: readJson(join(at, "package.json")),
    packages: names.map((name) => ({
      name,
      library: !programs.includes(name) && !commands.includes(name),
      path: `packages/${name}`,
      files: readdirSync(join(folder, name)),
      manifest: readJson(join(folder, name, "package.json")),
      // By their names: `src`, `test`, and those of areas.
      tsconfigs: Object.fromEntries(
        readdirSync(join(folder, name)).flatMap((file) => {
          const found = /^tsconfig\.(\w+)\.json$/.exec(file)
          return found === null ? [] : [[found[1], readJson(join(folder, name, file))]]
        })
      ),
      modules: files(name, "src"),
      tests: files(name, "test")
    }))
  }
}

/**
 * The comment that opens a module, as it stands in the file, and the lines of its body; `undefined` when there is none.
 * A first line for the shell may stand before it.
 */
export const headerOf = (text) => {
  const match = /^(?:#!.*\n)?(\/\*\*[\s\S]*?\*\/)/.exec(text)
  if (match === null) return undefined
  const comment = match[1]
  const lines = comment.slice("/**".length, -"*/".length).split("\n").map((line) => line.replace(/^\s*\* ?/, "").trim())
  while (lines.length > 0 && lines[0] === "") lines.shift()
  while (lines.length > 0 && lines.at(-1) === "") lines.pop()
  const tags = lines.findIndex((line) => line.startsWith("@"))
  return {
    comment,
    lines,
    prose: (tags === -1 ? lines : lines.slice(0, tags)).filter((line) => line !== ""),
    has: (tag) => lines.some((line) => line === tag || line.startsWith(`${tag} `))
  }
}
