// Rules about packages and files that no other tool checks: versions in lockstep, project references, the size of a
// module, its header, the names and the callers in it, its name, its keys, its test, values of its options, since when it is public, and how much is comment.
// Prints `file: rule: what to do` for each violation and exits 1. Imports are checked by .dependency-cruiser.mjs,
// unused and undeclared things by knip.json, syntax by eslint.config.mjs. rules.test.mjs breaks every rule on purpose.
import { basename, join, posix } from "node:path"
import { pathToFileURL } from "node:url"
import ts from "typescript"
import { isPublic } from "./codegen.mjs"
import { unnamedCallers, wrongNames } from "./names.mjs"
import { parse, textsOf } from "./syntax.mjs"
import { areas, headerOf, programs, readJson, readWorkspace, root, scope } from "./workspace.mjs"

const MAX_LINES = 600
const HEADER = { least: 2, most: 8 }
const COMMENT_SHARE = 0.2

const VAGUE = new Set("utils util helpers helper common shared manager managers misc base impl types".split(" "))

/** The folder of the other era. */
const ERA = { legacy: "modern", modern: "legacy" }

/** A name that users know from the documentation, though it has a vague word in it. */
const KNOWN = /^(Redis|Sql)?SharedLimits/

const isBarrel = (file) => file.module === "index"

const linesOf = (text) => text.split("\n").length - (text.endsWith("\n") ? 1 : 0)

const dependenciesOf = ({ manifest }, ...kinds) => kinds.flatMap((kind) => Object.keys(manifest?.[kind] ?? {}))

/** How many lines of a text hold words of a comment. The code of examples is not a comment: it is compiled and run; nor are tags. */
const commentLines = (text) =>
  text.replace(/^ \* ```ts[\s\S]*?^ \* ```$/gm, "").split("\n")
    .filter((line) => /^\s*(\/\*|\*|\/\/).*\w/.test(line) && !/^\s*(\/\*\*|\*) @(category|since)\b/.test(line)).length

/** What a module exports, by name, each with its documentation. */
const exportsOf = (text) => {
  const source = ts.createSourceFile("module.ts", text, ts.ScriptTarget.Latest, true)
  return source.statements.flatMap((one) => {
    const isExported = ts.canHaveModifiers(one) &&
      ts.getModifiers(one)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) === true
    const name = ts.isVariableStatement(one) ? one.declarationList.declarations[0].name : one.name
    if (!isExported || name === undefined) return []
    const comments = ts.getLeadingCommentRanges(text, one.getFullStart()) ?? []
    const doc = comments.filter(({ pos }) => pos > 0 && text.startsWith("/**", pos)).at(-1)
    return [{ name: name.getText(source), doc: doc === undefined ? "" : text.slice(doc.pos, doc.end) }]
  })
}

// Each rule sees the whole workspace and reports `(file, what)`; its key is its name.
const RULES = {
  "package-json": ({ packages, report }) => {
    for (const pkg of packages) {
      const path = `${pkg.path}/package.json`
      if (pkg.manifest === undefined) report(path, "write it")
      else if (pkg.manifest.broken) report(path, `repair the JSON: ${pkg.manifest.broken}`)
      else if (pkg.manifest.name !== scope + pkg.name) report(path, `name it ${scope}${pkg.name}, as its folder`)
    }
  },

  "metadata": ({ packages, report }) => {
    for (const pkg of packages.filter(({ name }) => !programs.includes(name))) {
      for (const key of ["description", "license", "repository", "homepage", "bugs", "keywords", "engines", "files"]) {
        if (pkg.manifest?.[key] === undefined) report(`${pkg.path}/package.json`, `add "${key}"`)
      }
      for (const name of ["README.md", "LICENSE"]) {
        if (!pkg.files.includes(name)) report(`${pkg.path}/${name}`, "write it: the tarball needs it")
      }
    }
  },

  "lockstep": ({ packages, report }) => {
    const version = packages[0]?.manifest?.version
    for (const { manifest, path } of packages) {
      if (manifest?.version !== version) report(`${path}/package.json`, `give it version ${version}`)
      for (const [name, range] of Object.entries(manifest?.dependencies ?? {})) {
        if (name.startsWith(scope) && range !== version) {
          report(`${path}/package.json`, `depend on ${name} at exactly ${version}`)
        }
      }
    }
  },

  "peers": ({ packages, report }) => {
    for (const pkg of packages.filter(({ library }) => library)) {
      for (const name of dependenciesOf(pkg, "dependencies")) {
        if (name === "effect" || name.startsWith("@effect/")) {
          report(`${pkg.path}/package.json`, `move ${name} to peerDependencies: an application has one Effect`)
        }
      }
    }
  },

  "references": ({ packages, report, workspace }) => {
    const compiled = packages.filter(({ modules }) => modules.length > 0)
    // The compiler does not see that a project changed through a project that only has references, so each one is listed itself.
    const projects = (path) => {
      const { files, references = [] } = readJson(join(workspace.root, path)) ?? {}
      return files?.length === 0
        ? references.flatMap((one) => projects(posix.join(posix.dirname(path), one.path)))
        : [path]
    }
    for (const pkg of compiled) {
      for (const [name, config] of Object.entries(pkg.tsconfigs).filter(([, config]) => config?.files?.length !== 0)) {
        const listed = (config?.references ?? []).map(({ path }) => posix.join(pkg.path, path))
        const dependencies = name === "src"
          ? dependenciesOf(pkg, "dependencies").filter((one) => one.startsWith(scope))
          : []
        const needed = [
          ...listed,
          ...dependencies.map((one) => `packages/${one.slice(scope.length)}/tsconfig.src.json`)
        ]
        for (const path of new Set(needed.flatMap(projects))) {
          if (!listed.includes(path)) {
            report(`${pkg.path}/tsconfig.${name}.json`, `add the reference "${posix.relative(pkg.path, path)}"`)
          }
        }
      }
    }
    for (const [name, suffix] of [["tsconfig.json", ""], ["tsconfig.build.json", "/tsconfig.src.json"]]) {
      const listed = (readJson(join(workspace.root, name))?.references ?? []).map(({ path }) => posix.normalize(path))
      for (const { path } of compiled) {
        if (!listed.includes(path + suffix)) report(name, `add the reference "${path}${suffix}"`)
      }
    }
  },

  "declared": ({ packages, report }) => {
    for (const pkg of packages.filter(({ library }) => library)) {
      const declared = dependenciesOf(pkg, "dependencies", "peerDependencies")
      const imported = new Set(
        pkg.modules.flatMap(({ text }) =>
          [...text.matchAll(/^(?:import|export|\} from).*"(@effect-mcp\/[a-z]+)/gm)].map(([, name]) => name)
        )
      )
      for (const name of imported) {
        if (name !== scope + pkg.name && !declared.includes(name)) {
          report(`${pkg.path}/package.json`, `declare ${name} in dependencies: its src imports it`)
        }
      }
    }
  },

  "size": ({ files, report }) => {
    for (const file of files) {
      const lines = linesOf(file.text)
      if (!isBarrel(file) && lines > MAX_LINES) report(file.path, `split it: ${lines} lines, the limit is ${MAX_LINES}`)
    }
  },

  "header": ({ modules, report }) => {
    for (const { file } of modules) {
      if (isBarrel(file)) continue
      const lines = headerOf(file.text)?.prose.length ?? 0
      if (lines < HEADER.least || lines > HEADER.most) {
        report(
          file.path,
          `open it with ${HEADER.least} to ${HEADER.most} lines: what it does, what it leaves to others; it has ${lines}`
        )
      }
    }
  },

  "header-names": ({ packages, report }) => {
    for (const { name, path, what } of wrongNames(packages)) report(path, `its header names \`${name}\`, which ${what}`)
  },

  "header-callers": ({ packages, report }) => {
    for (const { callers, path } of unnamedCallers(packages)) {
      report(path, `name in its header a module that imports it: ${callers.join(", ")}`)
    }
  },

  "since": ({ modules, report }) => {
    for (const { file, pkg } of modules) {
      if (!pkg.library || isBarrel(file) || !isPublic(pkg, file.module)) continue
      if (headerOf(file.text)?.has("@since") !== true) report(file.path, "end its header with @since and the version")
    }
  },

  "hidden-tags": ({ modules, report }) => {
    for (const { file, pkg } of modules) {
      if (!pkg.library || isBarrel(file) || isPublic(pkg, file.module)) continue
      if (/^\s*\*\s*@(since|category)\b/m.test(file.text)) {
        report(file.path, "remove @since and @category: they are for public modules")
      }
    }
  },

  "category": ({ modules, report }) => {
    for (const { file, pkg } of modules) {
      if (!pkg.library || isBarrel(file) || !isPublic(pkg, file.module)) continue
      for (const { doc, name } of exportsOf(file.text)) {
        const count = doc.match(/@category [a-z]+/g)?.length ?? 0
        if (count !== 1) report(file.path, `give \`${name}\` one @category, such as constructors, models or layers`)
      }
    }
  },

  "comments": ({ modules, packages, report }) => {
    for (const pkg of packages.filter(({ library }) => library)) {
      const texts = modules.filter((one) => one.pkg === pkg && !isBarrel(one.file)).map(({ file }) => file.text)
      const share = texts.reduce((sum, text) => sum + commentLines(text), 0) /
        Math.max(1, texts.reduce((sum, text) => sum + linesOf(text), 0))
      // A handful of lines says nothing about a package.
      if (texts.join("").length > 10_000 && share > COMMENT_SHARE) {
        report(
          pkg.path,
          `${Math.round(share * 100)} % of its lines are comments, the limit is ${COMMENT_SHARE * 100} %`
        )
      }
    }
  },

  "test": ({ packages, report }) => {
    for (const pkg of packages.filter(({ library }) => library)) {
      const tests = pkg.tests.map((file) => file.module)
      for (const { module, path, text } of pkg.modules) {
        // A module of types has nothing to run.
        if (!isPublic(pkg, module) || !/^export (const|class|function)/m.test(text)) continue
        if (!tests.some((test) => test.startsWith(`${module}.`) && test.endsWith(".test"))) {
          report(path, `test it in ${pkg.path}/test/${module}.test.ts`)
        }
      }
    }
  },

  // The compiler demands every member of what stands in `Every`; this demands every options type there.
  "options": ({ packages, report }) => {
    for (const pkg of packages.filter(({ library }) => library)) {
      const path = `${pkg.path}/test/Options.values.ts`
      const values = pkg.tests.filter(({ module }) => /(^|\/)Options.values$/.test(module)).map(({ text }) => text)
        .join("\n")
      if (/\bas (any|never|unknown)\b|@ts-/.test(values)) report(path, "give the values as users do, without a cast")
      for (const { module, text } of pkg.modules.filter(({ module }) => isPublic(pkg, module))) {
        for (const [, name] of text.matchAll(/^export (?:interface|type) (\w*Options)\b/gm)) {
          const type = `${posix.basename(module)}.${name}`
          if (!new RegExp(`\\bEvery<\\s*(?:(?:Omit|Pick)<\\s*)?${type}\\b`).test(values)) {
            report(path, `give every option a value that \`satisfies Every<${type}>\`, and pass it to what takes it`)
          }
        }
      }
    }
  },

  "name": ({ files, modules, report }) => {
    for (const file of files) {
      const words = file.module.split(/[^A-Za-z0-9]+|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/)
      const vague = words.find((word) => VAGUE.has(word.toLowerCase()))
      if (vague !== undefined && !KNOWN.test(basename(file.module))) {
        report(file.path, `name it after what it does: "${vague}" says nothing`)
      }
    }
    for (const { file, pkg } of modules) {
      if (pkg.library && !isBarrel(file) && !/^([a-z][a-zA-Z0-9]*\/)*[A-Z][A-Za-z0-9]*$/.test(file.module)) {
        report(file.path, "name the module in PascalCase and its folders in lower case")
      }
    }
  },

  // Siblings import a hidden module by its base name. Only the halves of one subject, one for each era, share a base name.
  "base-name": ({ packages, report }) => {
    for (const pkg of packages.filter(({ library }) => library)) {
      const first = new Map()
      const areaOf = (module) => areas[pkg.name] === undefined ? "" : module.split("/")[0]
      for (const { module, path } of pkg.modules.filter((file) => !isBarrel(file))) {
        const name = basename(module)
        const key = `${areaOf(module)} ${name}`
        const other = first.get(key)
        const isTwin = other !== undefined && module.split("/").map((part) => ERA[part] ?? part).join("/") === other
        if (other === undefined) first.set(key, module)
        else if (!isTwin) report(path, `rename it: ${other} has the same base name`)
      }
    }
  },

  // Context tags, type ids and fiber references are found by their keys, in all of the process: of two services with one key, the one
  // that is provided last would silently stand for both.
  "keys": ({ modules, report }) => {
    const first = new Map()
    for (const { file, pkg } of modules) {
      if (!pkg.library || !file.text.includes(`"${scope}`)) continue
      for (const { text } of textsOf(parse(file)).filter(({ text }) => text.startsWith(scope))) {
        const other = first.get(text)
        if (other === undefined) first.set(text, file.path)
        else report(file.path, `give "${text}" another key: ${other} has this one`)
      }
    }
  }
}

export const rules = Object.keys(RULES)

/** What breaks the rules in the workspace at a folder, each `{ file, rule, what }`. */
export const inspect = (at = root) => {
  const workspace = readWorkspace(at)
  const { packages } = workspace
  const modules = packages.flatMap((pkg) => pkg.modules.map((file) => ({ pkg, file })))
  const files = packages.flatMap((pkg) => [...pkg.modules, ...pkg.tests])
  const violations = []
  for (const [rule, check] of Object.entries(RULES)) {
    check({ files, modules, packages, workspace, report: (file, what) => violations.push({ file, rule, what }) })
  }
  return { workspace, violations }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const { violations, workspace } = inspect()
  for (const { file, rule, what } of violations) console.log(`${file}: ${rule}: ${what}`)
  const count = (part) => workspace.packages.reduce((sum, pkg) => sum + pkg[part].length, 0)
  console.log(
    `${count("modules")} modules, ${count("tests")} test files, ${rules.length} rules: ${violations.length} violations`
  )
  if (violations.length > 0) process.exitCode = 1
}
