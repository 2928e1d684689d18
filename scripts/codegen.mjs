// Writes packages/*/src/index.ts of every library: each public room as a namespace, under the comment it opens with.
// `--check` writes nothing and exits 1 when a barrel is stale. Era folders are published where workspace.mjs says so;
// other folders of a package are reached by subpath only.
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { eras, headerOf, publishesEras, readWorkspace, root } from "./workspace.mjs"

const title = (word) => word[0].toUpperCase() + word.slice(1)

const byCodePoint = (a, b) => a < b ? -1 : a > b ? 1 : 0

/** The name under which the barrel exports a room; `undefined` for a room that it does not export. */
const publicName = (pkg, room) => {
  const [first, ...rest] = room.split("/")
  if (rest.length === 0) return first === "index" ? undefined : first
  return rest.length === 1 && publishesEras.includes(pkg.name) && eras.includes(first)
    ? title(first) + rest[0]
    : undefined
}

/** The text of a package's barrel. */
export const barrelOf = (pkg) => {
  const rooms = pkg.rooms
    .map((file) => ({ ...file, name: publicName(pkg, file.room) }))
    .filter(({ name }) => name !== undefined)
    .sort((a, b) => a.room.split("/").length - b.room.split("/").length || byCodePoint(a.room, b.room))
  const description = pkg.manifest?.description ?? pkg.name
  const head =
    `/**\n * ${description}.\n *\n * Written by \`npm run codegen\` from the rooms' own headers.\n *\n * @since 0.1.0\n */\n`
  if (rooms.length === 0) return `${head}export {}\n`
  const parts = rooms.map(({ name, room, text }) => {
    const comment = headerOf(text)?.comment
    return `${comment === undefined ? "" : `${comment}\n`}export * as ${name} from "./${room}.js"\n`
  })
  return [head, ...parts].join("\n")
}

/** What differs, line by line without order: enough to see which room came, went or changed its header. */
const difference = (before, after) => {
  const missing = (from, to) => {
    const left = new Map()
    for (const line of to) left.set(line, (left.get(line) ?? 0) + 1)
    return from.filter((line) => {
      const count = left.get(line) ?? 0
      left.set(line, count - 1)
      return count <= 0
    })
  }
  const [old, fresh] = [before, after].map((text) => text.split("\n"))
  const changes = [
    ...missing(old, fresh).map((line) => `  - ${line}`),
    ...missing(fresh, old).map((line) => `  + ${line}`)
  ].filter((line) => /[^\s*/+-]/.test(line))
  if (changes.length === 0) return ["  (the order or the layout)"]
  return changes.length > 12 ? [...changes.slice(0, 12), `  … and ${changes.length - 12} lines`] : changes
}

/** The barrels of a workspace: `{ path, stale, before, after }`. */
export const barrels = (at = root) =>
  readWorkspace(at).packages.filter(({ library, rooms }) => library && rooms.length > 0).map((pkg) => {
    const path = `${pkg.path}/src/index.ts`
    const before = existsSync(join(at, path)) ? readFileSync(join(at, path), "utf8") : undefined
    const after = barrelOf(pkg)
    return { path, before, after, stale: before !== after }
  })

/** Writes or checks; gives the lines to print and whether all is well. */
export const codegen = (at, check) => {
  const all = barrels(at)
  const stale = all.filter((one) => one.stale)
  const lines = stale.flatMap(({ after, before, path }) => {
    if (!check) {
      writeFileSync(join(at, path), after)
      return [`${path}: written`]
    }
    return before === undefined
      ? [`${path}: missing: run npm run codegen`]
      : [`${path}: stale: run npm run codegen`, ...difference(before, after)]
  })
  return {
    lines: [...lines, `${all.length} barrels, ${stale.length} ${check ? "stale" : "written"}`],
    ok: !check || stale.length === 0
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const { lines, ok } = codegen(root, process.argv.includes("--check"))
  for (const line of lines) console.log(line)
  if (!ok) process.exitCode = 1
}
