// The API report: what the declarations of each public module say, without comments, in docs/api/<package>.md. `--check` writes
// nothing and exits 1 when a report differs from the build. Either way it fails when a public declaration mentions a hidden
// module. Needs a build (`npm run build`).
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join, posix } from "node:path"
import { pathToFileURL } from "node:url"
import ts from "typescript"
import { isPublic } from "./codegen.mjs"
import { importsOf } from "./syntax.mjs"
import { readWorkspace, root, scope } from "./workspace.mjs"

const printer = ts.createPrinter({ removeComments: true, newLine: ts.NewLineKind.LineFeed })

const parse = (path, text) => ts.createSourceFile(path, text, ts.ScriptTarget.ES2022, true)

/**
 * The compiler writes the members of an inferred type in the order in which it met them, which differs between a clean and an
 * incremental build: the report sorts them.
 */
const sorted = (source) => {
  const byText = (nodes) => {
    const print = (node) => printer.printNode(ts.EmitHint.Unspecified, node, source)
    return nodes.map((node) => [print(node), node]).sort(([a], [b]) => a < b ? -1 : a > b ? 1 : 0).map(([, node]) =>
      node
    )
  }
  const { transformed: [file] } = ts.transform(source, [(context) => {
    const visit = (node) => {
      const inner = ts.visitEachChild(node, visit, context)
      if (ts.isTypeLiteralNode(inner)) return ts.factory.updateTypeLiteralNode(inner, byText(inner.members))
      if (ts.isUnionTypeNode(inner)) return ts.factory.updateUnionTypeNode(inner, byText(inner.types))
      return inner
    }
    return (node) => ts.visitNode(node, visit)
  }])
  return file
}

/** The declarations of a module as the report shows them. */
export const declarationsOf = (text) =>
  printer.printFile(sorted(parse("module.d.ts", text))).split("\n").filter((line) => !line.startsWith("//#")).join("\n")
    .trim()

/** The hidden modules that the declarations of a public module mention. */
export const hiddenIn = (pkg, module, text) =>
  importsOf(parse("module.d.ts", text)).map(({ specifier }) => specifier).filter((specifier) => {
    if (!specifier.startsWith(".")) return specifier.startsWith(scope) && specifier.includes("/unstable/")
    const target = posix.join(dirname(module), specifier).replace(/\.js$/, "")
    return !isPublic(pkg, target)
  })

const reportOf = (pkg, at) => {
  const modules = pkg.modules.map(({ module }) => module).filter((module) => isPublic(pkg, module))
  const texts = modules.map((module) => [module, readFileSync(join(at, pkg.path, "dist", `${module}.d.ts`), "utf8")])
  const sections = texts.map(([module, text]) =>
    `## ${scope}${pkg.name}/${module}\n\n\`\`\`ts no-check\n${declarationsOf(text)}\n\`\`\`\n`
  )
  return {
    path: `docs/api/${pkg.name}.md`,
    text: `# The public API of ${scope}${pkg.name}\n\nWritten by \`npm run api\`.\n\n${sections.join("\n")}`,
    hidden: texts.flatMap(([module, text]) =>
      hiddenIn(pkg, module, text).map((specifier) =>
        `${pkg.path}/src/${module}.ts: its declarations mention ${specifier}`
      )
    )
  }
}

/** Writes or compares the reports; gives the lines to print and whether all is well. */
export const api = (at, check) => {
  const reports = readWorkspace(at).packages.filter(({ library }) => library).map((pkg) => reportOf(pkg, at))
  const changed = reports.filter(({ path, text }) =>
    !existsSync(join(at, path)) || readFileSync(join(at, path), "utf8") !== text
  )
  for (const { path, text } of check ? [] : changed) {
    mkdirSync(dirname(join(at, path)), { recursive: true })
    writeFileSync(join(at, path), text)
  }
  const hidden = reports.flatMap((report) => report.hidden)
  return {
    lines: [
      ...hidden,
      ...changed.map(({ path }) =>
        check ? `${path}: differs from the build: run npm run api, and review it` : `${path}: written`
      ),
      `${reports.length} API reports, ${changed.length} ${
        check ? "differ" : "written"
      }, ${hidden.length} hidden types in public`
    ],
    ok: hidden.length === 0 && (!check || changed.length === 0)
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const { lines, ok } = api(root, process.argv.includes("--check"))
  for (const line of lines) console.log(line)
  if (!ok) process.exitCode = 1
}
