// How packages, rooms and eras are written in imports, manifests and references.
import { isBuiltin } from "node:module"
import { dirname, posix } from "node:path"
import { eras, publishesEras, scope } from "../workspace.mjs"

/** `@effect-mcp/server/http/Endpoint` is package `server`, room `http/Endpoint`; the barrel is room "". */
export const ours = (specifier) => {
  if (!specifier.startsWith(scope)) return undefined
  const [name, ...rest] = specifier.slice(scope.length).split("/")
  return { name, room: rest.join("/") }
}

export const isRelative = (specifier) => specifier.startsWith(".")

export const packageName = (specifier) =>
  isBuiltin(specifier) ? specifier : specifier.split("/").slice(0, specifier.startsWith("@") ? 2 : 1).join("/")

export const eraOf = (room) => eras.find((era) => room.split("/").slice(0, -1).includes(era))

const title = (word) => word[0].toUpperCase() + word.slice(1)

/** The eras that an import brings in. */
export const erasOf = (pkg, file, { names, specifier }) => {
  if (isRelative(specifier)) {
    const target = posix.join(dirname(file.path), specifier)
    const inside = `${pkg.path}/src/`
    const era = target.startsWith(inside) ? eraOf(target.slice(inside.length)) : undefined
    return era === undefined ? [] : [era]
  }
  const target = ours(specifier)
  if (target === undefined) return []
  if (target.room !== "") return [eraOf(target.room)].filter((era) => era !== undefined)
  if (!publishesEras.includes(target.name)) return []
  return eras.filter((era) => names.some((name) => name === "*" || new RegExp(`^${title(era)}[A-Z]`).test(name)))
}

export const isBarrel = (file) => file.room === "index"

export const dependenciesOf = ({ manifest }, ...kinds) => kinds.flatMap((kind) => Object.keys(manifest?.[kind] ?? {}))

export const referencesOf = (pkg, part) =>
  (pkg.tsconfigs[part]?.references ?? []).map(({ path }) => posix.join(pkg.path, path))

export const referenceTo = (name) => `packages/${name}/tsconfig.src.json`
