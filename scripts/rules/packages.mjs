// Rules about a package as a whole: its manifest, its tsconfigs, what it declares.
import { isBuiltin } from "node:module"
import { join, posix } from "node:path"
import { eras, publishesEras, readJson, scope } from "../workspace.mjs"
import { dependenciesOf, eraOf, isRelative, ours, packageName, referencesOf, referenceTo } from "./names.mjs"

export const packageRules = {
  "package-unknown": ({ each, house, report }) =>
    each.package((pkg) => {
      if (!house.reach.has(pkg.name)) {
        report(pkg.path, "draw its arrows in ARROWS of scripts/rooms.mjs, or remove it")
      }
    }),

  "package-json": ({ each, report }) =>
    each.package((pkg) => {
      if (pkg.manifest === undefined) return report(`${pkg.path}/package.json`, "write it")
      if (pkg.manifest.broken) return report(`${pkg.path}/package.json`, `repair the JSON: ${pkg.manifest.broken}`)
      if (pkg.manifest.name !== scope + pkg.name) {
        report(`${pkg.path}/package.json`, `name it ${scope}${pkg.name}, as its folder`)
      }
      for (const part of ["src", "test"]) {
        const path = `${pkg.path}/tsconfig.${part}.json`
        // A program without tests needs no project for them.
        const needed = part === "src" || pkg.library || pkg.tests.length > 0
        const tsconfig = pkg.tsconfigs[part]
        if (tsconfig === undefined && needed) report(path, "write it")
        else if (tsconfig?.broken) report(path, `repair the JSON: ${tsconfig.broken}`)
      }
    }),

  "lockstep": ({ each, report, workspace }) => {
    const version = workspace.packages[0]?.manifest?.version
    each.package((pkg) => {
      const path = `${pkg.path}/package.json`
      if (pkg.manifest?.version !== version) report(path, `give it version ${version}: versions go in lockstep`)
      for (const [name, range] of Object.entries(pkg.manifest?.dependencies ?? {})) {
        if (name.startsWith(scope) && range !== version) report(path, `depend on ${name} at exactly ${version}`)
      }
    })
  },

  "peers": ({ each, report }) =>
    each.library((pkg) => {
      for (const name of dependenciesOf(pkg, "dependencies")) {
        if (name === "effect" || name.startsWith("@effect/")) {
          report(`${pkg.path}/package.json`, `move ${name} to peerDependencies: an application has one Effect`)
        }
      }
    }),

  "eras-hidden": ({ each, report }) =>
    each.library((pkg) => {
      if (publishesEras.includes(pkg.name)) return
      for (const era of eras) {
        if (pkg.rooms.some((file) => eraOf(file.room) === era) && pkg.manifest?.exports?.[`./${era}/*`] !== null) {
          report(`${pkg.path}/package.json`, `hide the era: "./${era}/*": null in exports`)
        }
      }
    }),

  "declared": ({ each, report, workspace }) => {
    const published = ["dependencies", "peerDependencies"]
    const any = [...published, "devDependencies"]
    const missing = new Set()
    const once = (path, what) => {
      if (missing.has(path + what)) return
      missing.add(path + what)
      report(path, what)
    }
    each.srcImport((pkg, _, { specifier }) => {
      if (isRelative(specifier) || isBuiltin(specifier)) return
      const name = packageName(specifier)
      const target = ours(specifier)
      if (target?.name === pkg.name) return
      const kinds = !pkg.library ? any : target !== undefined ? ["dependencies"] : published
      if (!dependenciesOf(pkg, ...kinds).includes(name)) {
        once(`${pkg.path}/package.json`, `declare ${name} in ${kinds.join(" or ")}: its src imports it`)
      }
      if (target !== undefined && !referencesOf(pkg, "src").includes(referenceTo(target.name))) {
        once(`${pkg.path}/tsconfig.src.json`, `add the reference "../${target.name}/tsconfig.src.json"`)
      }
    })
    each.testImport((pkg, _, { specifier }) => {
      if (isRelative(specifier) || isBuiltin(specifier)) return
      const target = ours(specifier)
      const name = packageName(specifier)
      if (target === undefined && ![pkg, workspace].some((one) => dependenciesOf(one, ...any).includes(name))) {
        once(`${pkg.path}/package.json`, `declare ${name} in devDependencies: its tests import it`)
      }
      if (target !== undefined && !referencesOf(pkg, "test").includes(referenceTo(target.name))) {
        once(`${pkg.path}/tsconfig.test.json`, `add the reference "../${target.name}/tsconfig.src.json"`)
      }
    })
  },

  "built": ({ report, workspace }) => {
    const lists = [["tsconfig.json", ""], ["tsconfig.build.json", "/tsconfig.src.json"]]
    for (const [name, suffix] of lists) {
      const listed = (readJson(join(workspace.root, name))?.references ?? []).map(({ path }) => posix.normalize(path))
      for (const pkg of workspace.packages) {
        if (!listed.includes(pkg.path + suffix)) report(name, `add the reference "${pkg.path}${suffix}"`)
      }
    }
  }
}
