// The API report: what the declarations of each public module say, without comments, in etc/api: a file for each package,
// or for each area of it. The report of a vocabulary leaves out the members of its schemas. `--check` writes nothing and exits 1 when a report
// differs from the build. Either way it fails when a public declaration mentions a hidden module. Needs a build (`npm run build`).
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join, posix } from "node:path"
import { pathToFileURL } from "node:url"
import ts from "typescript"
import { isPublic, pathOf } from "./codegen.mjs"
import { importsOf } from "./syntax.mjs"
import { areas, hiddenAreas, readWorkspace, root, scope } from "./workspace.mjs"

/** Areas whose schemas have the members that the specification gives them: tests compare each with the official schema of its revision. */
const vocabularies = ["protocol"]

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

/** Puts "…" in the place of what the schemas, methods and parts of extensions that are constants have inside. */
const withoutMembers = (source) => {
  const hasMembers = (node) => ts.isTypeLiteralNode(node) || ts.forEachChild(node, hasMembers) === true
  const { transformed: [file] } = ts.transform(source, [(context) => {
    const visit = (node) => {
      if (ts.isFunctionTypeNode(node)) return node
      const isCut = ts.isTypeReferenceNode(node) &&
        /^(Schema|Method|Extension\.\w+Definition)\b/.test(node.getText(source))
      return isCut && node.typeArguments !== undefined
        ? ts.factory.createTypeReferenceNode(
          node.typeName,
          node.typeArguments.map((one) => hasMembers(one) ? ts.factory.createTypeReferenceNode("…") : one)
        )
        : ts.visitEachChild(node, visit, context)
    }
    const outer = (node) => ts.isVariableStatement(node) ? visit(node) : node
    return (node) => ts.visitEachChild(node, outer, context)
  }])
  return file
}

/** The declarations of a module as the report shows them. */
export const declarationsOf = (text, isVocabulary = false) => {
  const source = parse("module.d.ts", text)
  return printer.printFile(sorted(isVocabulary ? withoutMembers(source) : source)).split("\n")
    .filter((line) => !line.startsWith("//#")).join("\n").trim()
}

/** The hidden modules that the declarations of a public module mention. */
export const hiddenIn = (pkg, module, text) =>
  importsOf(parse("module.d.ts", text)).map(({ specifier }) => specifier).filter((specifier) => {
    if (!specifier.startsWith(".")) return specifier.startsWith(scope) && specifier.includes("/unstable/")
    const target = posix.join(dirname(module), specifier).replace(/\.js$/, "")
    return !isPublic(pkg, target)
  })

/** The report of a package, or of one of its areas. */
const reportOf = (pkg, area, at) => {
  const modules = pkg.modules.map(({ module }) => module)
    .filter((module) => isPublic(pkg, module) && (area === undefined || module.startsWith(`${area}/`)))
  const texts = modules.map((module) => [module, readFileSync(join(at, pkg.path, "dist", `${module}.d.ts`), "utf8")])
  const sections = texts.map(([module, text]) =>
    `## ${scope}${pkg.name}/${pathOf(pkg, module)}\n\n\`\`\`ts no-check\n${
      declarationsOf(text, vocabularies.includes(area))
    }\n\`\`\`\n`
  )
  return {
    path: `etc/api/${area ?? pkg.name}.md`,
    text: `# The public API of ${scope}${pkg.name}${
      area === undefined ? "" : `, area ${area}`
    }\n\nWritten by \`npm run api\`.${
      vocabularies.includes(area) ? " What the schemas have inside is left out: it is what the specification says." : ""
    }\n\n${sections.join("\n")}`,
    hidden: texts.flatMap(([module, text]) =>
      hiddenIn(pkg, module, text).map((specifier) =>
        `${pkg.path}/src/${module}.ts: its declarations mention ${specifier}`
      )
    )
  }
}

/** Writes or compares the reports; gives the lines to print and whether all is well. */
export const api = (at, check) => {
  const reports = readWorkspace(at).packages.filter(({ library }) => library).flatMap((pkg) => {
    const own = areas[pkg.name]?.filter((area) => !hiddenAreas.includes(area)) ?? [undefined]
    return own.map((area) => reportOf(pkg, area, at))
  })
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
