// The names of modules and their members in the header of a module: `Module`, `folder/Module`, `Module.member`. A name is known when it
// is a module of the workspace, a name in the code of the module itself or an export of what it imports, a module of Effect, or a global.
// Says which names are not known, which name several modules, and which headers of hidden modules name no caller; rules.mjs reports them.
import { existsSync, readFileSync } from "node:fs"
import { join, posix } from "node:path"
import ts from "typescript"
import { isPublic } from "./codegen.mjs"
import { importsOf, parse } from "./syntax.mjs"
import { areas, headerOf, idOf, programs, root, scope } from "./workspace.mjs"

/** `folder/Module.member`: the folders and the member may be left out. The last letters of a word are lower case: `NOTIFY` is not one. */
const NAME = /^(?<folders>(?:[a-z][A-Za-z0-9]*\/)*)(?<module>[A-Z][A-Za-z0-9]*[a-z0-9])(?:\.(?<member>[A-Za-z]\w*))?$/

/** Where modules of Effect are found, by their names. */
const effect = ["effect", "@effect/platform", "@effect/platform-node", "@effect/ai"].map((name) =>
  join(root, "node_modules", name, "src")
)

const memoized = (compute) => {
  const known = new Map()
  return (key) => {
    if (!known.has(key)) known.set(key, compute(key))
    return known.get(key)
  }
}

const parsed = memoized(parse)

/** The identifiers in the code of a module. */
const identifiers = memoized((file) => {
  const found = new Set()
  const visit = (node) => {
    if (ts.isIdentifier(node)) found.add(node.text)
    ts.forEachChild(node, visit)
  }
  visit(parsed(file))
  return found
})

/** The names that a module exports. */
const exportedNames = memoized((file) =>
  new Set(
    parsed(file).statements.filter((one) =>
      ts.canHaveModifiers(one) && ts.getModifiers(one)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)
    ).flatMap((one) => ts.isVariableStatement(one) ? one.declarationList.declarations : [one])
      .map(({ name }) => name?.getText())
  )
)

const effectText = memoized((module) =>
  effect.map((at) => join(at, `${module}.ts`)).filter((path) => existsSync(path)).map((path) =>
    readFileSync(path, "utf8")
  ).join("\n")
)

const isForeign = ({ member, module }) =>
  module in globalThis ||
  (effectText(module) !== "" && (member === undefined || new RegExp(`\\b${member}\\b`).test(effectText(module))))

/** The part of a package that has names of its own: an area, or the package. */
const areaOf = ({ module, name }) => areas[name] === undefined ? `/${name}/` : `/${name}/${module.split("/")[0]}/`

/** The modules that headers may name, each with its path from `packages` and the paths of what it imports. */
const placesOf = (packages) => {
  const known = packages.filter(({ name }) => !programs.includes(name)).flatMap((pkg) =>
    pkg.modules.filter(({ module }) => module !== "index").map((file) => ({
      file,
      area: areaOf({ module: file.module, name: pkg.name }),
      isPublic: isPublic(pkg, file.module),
      id: idOf(pkg.name, file.module),
      place: `/${pkg.name}/${file.module}`
    }))
  )
  // Hidden modules are imported by their base names.
  const hidden = new Map(known.map(({ area, place }) => [area + posix.basename(place), place]))
  const imported = (place, specifier) => {
    if (!specifier.startsWith(scope)) return posix.join(posix.dirname(place), specifier.replace(/\.js$/, ""))
    const path = `/${specifier.slice(scope.length)}`
    return path.includes("/unstable/") ? hidden.get(path.replace("/unstable/", "/")) : path
  }
  return known.map((one) => ({
    ...one,
    imports: importsOf(parsed(one.file)).map(({ specifier }) => imported(one.place, specifier))
  }))
}

/**
 * The modules that a name may mean where it stands: those of the same area; else public modules, those that are imported here or import
 * this one, and the one whose whole path the name is.
 */
const meant = ({ folders, module }, one, places) => {
  const named = places.filter(({ place }) => place.endsWith(`/${folders}${module}`))
  const own = named.filter((other) => other.area === one.area)
  if (own.length > 0) return own
  return named.filter(({ id, imports, isPublic, place }) =>
    isPublic || one.imports.includes(place) || imports.includes(one.place) || id === `${folders}${module}`
  )
}

/** A bare name means a module of the folder, of the folder above, or the one that is imported. */
const isAmbiguous = (named, one) => {
  const folder = posix.dirname(one.place)
  const isNear = ({ place }) => [folder, posix.dirname(folder)].includes(posix.dirname(place))
  return named.length > 1 && !named.some(isNear) &&
    named.filter(({ place }) => one.imports.includes(place)).length !== 1
}

/** What is wrong with one name in the header of a module; `undefined` when nothing is. */
const faultOf = (name, one, places) => {
  const parts = NAME.exec(name).groups
  const { folders, member, module } = parts
  const named = meant(parts, one, places)
  const isInScope = folders === "" && member === undefined &&
    (identifiers(one.file).has(module) ||
      places.some(({ file, place }) => one.imports.includes(place) && exportedNames(file).has(module)))
  if (named.length === 0) {
    return isInScope || (["", "effect/"].includes(folders) && isForeign(parts))
      ? undefined
      : "is not a module here: write its present name"
  }
  if (member !== undefined && !named.some(({ file }) => identifiers(file).has(member)) && !isForeign(parts)) {
    return `has no member "${member}": write its present name`
  }
  return isAmbiguous(named, one) ? "names several modules: write its folder, too" : undefined
}

/** The faults of the names in the headers of libraries, each `{ path, name, what }`. */
export const wrongNames = (packages) => {
  const places = placesOf(packages)
  return places.flatMap((one) => {
    const names = new Set(
      [...(headerOf(one.file.text)?.comment ?? "").matchAll(/`([^`\n]+)`/g)].map(([, name]) => name)
        .filter((name) => NAME.test(name))
    )
    return [...names].flatMap((name) => {
      const what = faultOf(name, one, places)
      return what === undefined ? [] : [{ path: one.file.path, name, what }]
    })
  })
}

/** With more modules that import it, a module is vocabulary: to name some of them would say nothing. */
const MOST_CALLERS = 8

/** Whether a header names a module: by its name or, from another package, by the name of the package. */
const namesCaller = (header, one, caller) =>
  [...header.matchAll(/`([^`\n]+)`/g)].some(([, name]) => {
    const parts = NAME.exec(name)?.groups
    if (parts !== undefined) return caller.place.endsWith(`/${parts.folders}${parts.module}`)
    return caller.place.startsWith(`/${name}/`) && !one.place.startsWith(`/${name}/`)
  })

/** The hidden modules whose headers name none of the modules that import them, each `{ path, callers }`. */
export const unnamedCallers = (packages) => {
  const places = placesOf(packages)
  return places.filter(({ isPublic }) => !isPublic).flatMap((one) => {
    const callers = places.filter(({ imports }) => imports.includes(one.place))
    const header = headerOf(one.file.text)?.comment ?? ""
    if (callers.length === 0 || callers.length > MOST_CALLERS) return []
    if (callers.some((caller) => namesCaller(header, one, caller))) return []
    return [{ path: one.file.path, callers: callers.map(({ place }) => place.slice(1)) }]
  })
}
