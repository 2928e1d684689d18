// Who a file imports: every specifier, where it stands, and which names are taken; and the other texts of a file. Knows
// TypeScript's syntax, and nothing of packages.
import ts from "typescript"

export const parse = (file) => ts.createSourceFile(file.path, file.text, ts.ScriptTarget.ES2022, true)

export const lineOf = (source, node) => source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1

const literal = (node) => node !== undefined && ts.isStringLiteralLike(node) ? node.text : undefined

const bindings = (clause) => {
  if (clause === undefined) return []
  const names = clause.name === undefined ? [] : ["default"]
  const { namedBindings } = clause
  if (namedBindings === undefined) return names
  if (ts.isNamespaceImport(namedBindings)) return [...names, "*"]
  return [...names, ...namedBindings.elements.map((element) => (element.propertyName ?? element.name).text)]
}

const exported = (clause) =>
  clause === undefined || ts.isNamespaceExport(clause)
    ? ["*"]
    : clause.elements.map((element) => (element.propertyName ?? element.name).text)

const leftmost = (name) => ts.isIdentifier(name) ? name.text : leftmost(name.left)

/** The import that this node is, if it is one: `names` holds `*` when all of the module is taken. */
const importAt = (node) => {
  if (ts.isImportDeclaration(node)) {
    return { specifier: literal(node.moduleSpecifier), names: bindings(node.importClause), reexport: false }
  }
  if (ts.isExportDeclaration(node) && node.moduleSpecifier !== undefined) {
    return { specifier: literal(node.moduleSpecifier), names: exported(node.exportClause), reexport: true }
  }
  if (ts.isImportEqualsDeclaration(node) && ts.isExternalModuleReference(node.moduleReference)) {
    return { specifier: literal(node.moduleReference.expression), names: ["*"], reexport: false }
  }
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
    const names = node.qualifier === undefined ? ["*"] : [leftmost(node.qualifier)]
    return { specifier: literal(node.argument.literal), names, reexport: false }
  }
  const called = ts.isCallExpression(node) ? node.expression : undefined
  if (
    called !== undefined &&
    (called.kind === ts.SyntaxKind.ImportKeyword || (ts.isIdentifier(called) && called.text === "require"))
  ) {
    return { specifier: literal(node.arguments[0]), names: ["*"], reexport: false }
  }
  return undefined
}

/** The texts in the code of a parsed file that are not the specifier of an import: `text` and `line`. */
export const textsOf = (source) => {
  const found = []
  const visit = (node) => {
    if (importAt(node) !== undefined) return
    const text = literal(node)
    if (text !== undefined) found.push({ text, line: lineOf(source, node) })
    ts.forEachChild(node, visit)
  }
  visit(source)
  return found
}

/** Every import, export-from, `import()`, `require()` and `import("…")` type of a parsed file. */
export const importsOf = (source) => {
  const found = []
  const visit = (node) => {
    const one = importAt(node)
    if (one?.specifier !== undefined) found.push({ ...one, line: lineOf(source, node) })
    ts.forEachChild(node, visit)
  }
  visit(source)
  return found
}
