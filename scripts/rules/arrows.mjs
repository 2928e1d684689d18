// Rules about imports: who may know whom. The picture and the lists come from rooms.mjs.
import { dirname, posix } from "node:path"
import { publishesEras, scope } from "../workspace.mjs"
import { dependenciesOf, eraOf, erasOf, isBarrel, isRelative, ours, packageName, referencesOf } from "./names.mjs"

export const arrowRules = {
  "twins": ({ each, report }) => {
    const twin = { server: "client", client: "server" }
    each.srcImport((pkg, file, { line, specifier }) => {
      if (pkg.name in twin && ours(specifier)?.name === twin[pkg.name]) {
        report(`${file.path}:${line}`, `do not import ${specifier}: server and client never know each other`)
      }
    })
  },

  "arrows": ({ each, house, report }) => {
    const allowed = (pkg, name) => house.reach.get(pkg.name)?.has(name) ?? true
    const twins = (pkg, name) => [pkg.name, name].every((one) => one === "server" || one === "client")
    each.srcImport((pkg, file, { line, specifier }) => {
      const target = ours(specifier)
      if (target !== undefined && !allowed(pkg, target.name) && !twins(pkg, target.name)) {
        report(`${file.path}:${line}`, `do not import ${specifier}: ${pkg.name} does not stand on ${target.name}`)
      }
    })
    each.package((pkg) => {
      for (const name of dependenciesOf(pkg, "dependencies", "peerDependencies")) {
        const target = ours(name)
        if (target !== undefined && !allowed(pkg, target.name)) {
          report(`${pkg.path}/package.json`, `remove the dependency ${name}: ${pkg.name} does not stand on it`)
        }
      }
      for (const path of referencesOf(pkg, "src")) {
        const name = path.split("/")[1]
        if (!allowed(pkg, name)) {
          report(`${pkg.path}/tsconfig.src.json`, `remove the reference to ${name}: ${pkg.name} does not stand on it`)
        }
      }
    })
  },

  "outside": ({ each, house, report }) =>
    each.srcImport((pkg, file, { line, specifier }) => {
      if (isRelative(specifier)) return
      const rule = house.outside.find(({ matches }) => matches(packageName(specifier)))
      if (rule !== undefined && !rule.by.includes(pkg.name)) {
        report(`${file.path}:${line}`, `do not import ${specifier}: only ${rule.by.join(", ")} need ${rule.needs}`)
      }
    }),

  "platform-node-subpath": ({ each, report }) =>
    each.import((_, file, { line, specifier }) => {
      if (specifier === "@effect/platform-node") {
        report(`${file.path}:${line}`, "import the module, \"@effect/platform-node/NodeRuntime\", not the barrel")
      }
    }),

  "effect-barrel": ({ each, report }) =>
    each.srcImport((pkg, file, { line, specifier }) => {
      if (pkg.library && (specifier === "effect" || specifier === "@effect/platform")) {
        report(`${file.path}:${line}`, `import the module, "${specifier}/…", not the barrel: it costs start-up time`)
      }
    }),

  "relative": ({ each, report }) => {
    each.import((pkg, file, { line, specifier }) => {
      if (!isRelative(specifier)) return
      const target = posix.join(dirname(file.path), specifier)
      if (!target.startsWith(`${pkg.path}/`)) {
        report(`${file.path}:${line}`, `import "${scope}<package>/<Room>" instead of ${specifier}`)
      } else if (file.path.startsWith(`${pkg.path}/src/`) && !target.startsWith(`${pkg.path}/src/`)) {
        report(`${file.path}:${line}`, `do not import ${specifier}: src imports only src`)
      }
    })
    each.srcImport((pkg, file, { line, specifier }) => {
      if (ours(specifier)?.name === pkg.name) {
        report(`${file.path}:${line}`, `import the room by its relative path instead of ${specifier}`)
      }
    })
  },

  "subpath": ({ each, report }) =>
    each.import((pkg, file, { line, specifier }) => {
      const target = ours(specifier)
      if (target === undefined) return
      if (/^(src|dist|build|test)(\/|$)|\.[jt]s$/.test(target.room)) {
        report(`${file.path}:${line}`, `import "${scope}${target.name}/<Room>": ${specifier} is not published`)
      } else if (eraOf(target.room) !== undefined && !publishesEras.includes(target.name)) {
        report(`${file.path}:${line}`, `do not import ${specifier}: ${target.name} hides its eras`)
      }
    }),

  "reexport": ({ each, report }) =>
    each.srcImport((pkg, file, { line, reexport, specifier }) => {
      if (pkg.library && reexport && !isBarrel(file)) {
        report(`${file.path}:${line}`, `do not re-export ${specifier}: a name has one import path`)
      }
    }),

  "era": ({ each, house, report }) => {
    const used = new Set()
    const chooses = (pkg, file) => house.chooseEra.some((one) => one === pkg.name || one === `${pkg.name}/${file.room}`)
    each.srcImport((pkg, file, one) => {
      if (!pkg.library || isBarrel(file)) return
      const mine = eraOf(file.room)
      for (const era of erasOf(pkg, file, one)) {
        const at = `${file.path}:${one.line}`
        if (mine !== undefined) {
          if (mine !== era) report(at, `do not import ${one.specifier}: a ${mine} room never knows the ${era} era`)
        } else if (!chooses(pkg, file)) {
          const room = `${pkg.name}/${file.room}`
          if (house.oneEra.some((entry) => entry.room === room && entry.era === era)) used.add(`${room} ${era}`)
          else report(at, `do not import ${one.specifier}: only rooms that choose an era know the ${era} era`)
        }
      }
    })
    for (const { era, room, why } of house.oneEra) {
      if (!why) report("scripts/rooms.mjs", `say in ONE_ERA why ${room} knows the ${era} era`)
      if (!used.has(`${room} ${era}`)) {
        report("scripts/rooms.mjs", `remove ${room} from ONE_ERA: it knows no ${era} room`)
      }
    }
  }
}
